"""The code page of texts in Latin letters, of which most take one sentence to tell."""

from tasks.reading.txt import code_page
from tests.cases import cases

TEXTS = {
    "fr": "Le loyer s’élève à 12 000 € et le preneur déclare connaître l’état des lieux où il s’engage.\n",
    "de": "Der Mietvertrag wird für fünf Jahre geschlossen. Größere Änderungen bedürfen der Schriftform.\n",
    "it": "La società è responsabile più di ogni altra, perché così è stabilito dalle parti.\n",
    "es": "El arrendatario pagará la renta. ¿Qué ocurre en caso de incumplimiento? La garantía del dueño.\n",
    "pl": "Umowa najmu została zawarta na pięć lat. Zmiany wymagają formy pisemnej, jeśli źle.\n",
    "cs": "Změny smlouvy musí být učiněny písemně, jinak jsou neplatné. Příliš žluťoučký kůň.\n",
    "hu": "A bérleti szerződés öt évre szól. A módosítások írásban érvényesek. Fűtési költség, előre.\n",
    "tr": "Kira sözleşmesi beş yıl süreyle yapılmıştır. Değişiklikler yalnızca yazılı olarak geçerlidir.\n",
    "lt": "Nuomos mokestis mokamas iš anksto iki kiekvieno mėnesio penktos dienos, jei šalys pasirašo.\n",
    "lv": "Nomas līgums noslēgts uz pieciem gadiem. Grozījumi ir spēkā tikai rakstiski, ja tos paraksta.\n",
    "en": "“Hello,” he said – it’s the tenant’s fee.\n",
    "caps": "ÜBERSICHT DER MIETVERTRÄGE FÜR GRÖSSERE FLÄCHEN\n",
}


@cases(
    ("language", "encoding"),
    [
        ("fr", "cp1252"), ("fr", "mac_roman"), ("de", "cp1252"), ("de", "mac_roman"), ("de", "cp850"),
        ("it", "cp1252"), ("it", "mac_roman"), ("es", "cp1252"), ("pl", "cp1250"), ("pl", "iso8859-2"),
        ("cs", "cp1250"), ("cs", "iso8859-2"), ("hu", "cp1250"), ("tr", "cp1254"), ("lt", "cp1257"), ("lv", "cp1257"),
        ("en", "cp1252"), ("en", "mac_roman"), ("caps", "cp1252"), ("caps", "mac_roman"), ("caps", "cp850"),
    ],
)  # fmt: skip
def test_the_code_page_is_the_one_that_gives_the_text(language: str, encoding: str) -> None:
    data = TEXTS[language].encode(encoding)
    found = code_page(data)
    assert found is not None
    assert data.decode(found) == TEXTS[language]


@cases(
    ("text", "encoding"),
    [
        ("Договор аренды заключён сроком на пять лет.\n", "cp1251"),
        ("本契約の期間は五年間とする。\n", "cp932"),
        ("Η σύμβαση μίσθωσης συνάπτεται για πέντε έτη.\n", "cp1253"),
    ],
)
def test_other_letters_are_left_to_others(text: str, encoding: str) -> None:
    assert code_page(text.encode(encoding)) is None
