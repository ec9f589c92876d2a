"""Which languages the texts of a data room are written in."""

from tasks.language.words import detect_language, detect_languages
from tests.cases import cases

SENTENCES = {
    "English": "The company has not paid a dividend to the holders of its shares this year, and it is not planned.",
    "German": "Die Gesellschaft hat keine Dividende an die Aktionäre gezahlt, und das ist auch nicht geplant.",
    "French": "La société n'a pas versé de dividende aux actionnaires dans le cours de l'exercice, ce qui est prévu.",
    "Portuguese": "A sociedade não pagou dividendos aos acionistas no exercício, e não é de esperar que o faça.",
    "Danish": "Selskabet har ikke udbetalt udbytte til aktionærerne i året, og det er ikke planlagt af bestyrelsen.",
    "Polish": "Spółka nie wypłaciła dywidendy w tym roku i nie jest to planowane przez zarząd na rok po nim.",
    "Russian": "Компания не выплачивала дивиденды акционерам в этом году.",
    "Japanese": "当社は当期において株主に対する配当金を支払っておらず、その予定もありません。",
    "Chinese": "公司本年度未向股东派发股利，也没有派发股利的计划，董事会已经通过该决议。",
}


@cases("language", SENTENCES)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert detect_language(SENTENCES[language]) == language


def test_a_long_name_in_another_script_does_not_tell_the_language() -> None:
    parent = "Its parent is Открытое акционерное общество."
    assert detect_language(f"{SENTENCES['English']} {parent} {SENTENCES['English']}") == "English"


@cases("text", ["", "1,204\t1,118\t986", "Alpha Holdings B.V., Amsterdam", "§ 12 (3)"])
def test_figures_and_names_tell_none(text: str) -> None:
    assert detect_language(text) is None


def test_a_room_has_the_languages_of_a_tenth_of_its_texts_or_more_the_commonest_first() -> None:
    room = [SENTENCES["English"]] * 14 + [SENTENCES["German"]] * 5 + [SENTENCES["French"]] + ["1,204\t1,118"] * 40
    assert detect_languages(room) == ("English", "German")
    assert detect_languages(["1,204\t1,118"]) == ()
