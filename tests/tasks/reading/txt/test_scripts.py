"""The code page of texts in other letters than Latin, of which a heading mostly is enough."""

from tasks.reading.txt import code_page_by_letters, decode_text
from tests.cases import cases

TEXTS = {
    "ru": "Расходы;Май\nАренда склада;90\n",
    "uk": "Збиток за минулий рік",
    "el": "Αθήνα;Πάτρα\nΜεταφορά;12\n",
    "he": "הצהרת המנהל על תוצאות השנה",
    "ar": "بيان النفقات الشهرية",
    "th": "ค่าเช่ารายเดือน",
    "ja": "月々の支払いについて",
    "zh": "公司股东名单",
    "tw": "公司股東名單與報價",
    "ko": "이사회 회의록",
}
PAGES = {
    "ru": ("cp1251", "koi8-r", "cp866", "iso8859-5", "mac_cyrillic"),
    "uk": ("cp1251", "koi8-u", "iso8859-5"),
    "el": ("cp1253", "iso8859-7", "cp737"),
    "he": ("cp1255", "iso8859-8", "cp862"),
    "ar": ("cp1256", "iso8859-6"),
    "th": ("cp874",),
    "ja": ("cp932", "euc_jp"),
    "zh": ("gb18030",),
    "tw": ("big5",),
    "ko": ("cp949",),
}


@cases(("language", "page"), [(language, page) for language in PAGES for page in PAGES[language]])
def test_a_line_is_read_in_the_code_page_of_its_language(language: str, page: str) -> None:
    assert decode_text(TEXTS[language].encode(page)) == (TEXTS[language], False)


def test_a_long_text_may_be_cut_within_a_character() -> None:
    assert code_page_by_letters(("ａ" + "当社は代金を支払うものとする。" * 500).encode("euc_jp")) == "euc_jp"


@cases("data", [b"", b"words", b"S\xfc\xdf", bytes(range(128, 256)) * 20])
def test_what_is_no_language_has_none(data: bytes) -> None:
    assert code_page_by_letters(data) is None


def test_turkish_is_not_taken_for_icelandic() -> None:
    for words, page in (("Yıllık faaliyet raporu özeti", "cp1254"), ("Þóknun og síðan ársreikningur", "cp1252")):
        assert decode_text(words.encode(page))[0] == words
