"""How a question is read: what counts, what is only the asking, and what documents call it."""

from tasks.language.words import tokens
from tasks.ranking.query import rarity, read_query
from tests.cases import cases


def weights(question: str) -> dict[str, float]:
    return {term.phrase[0]: term.weight for term in read_query(question).terms if len(term.phrase) == 1}


def test_words_of_the_asking_hardly_count() -> None:
    found = weights("Give a response in USD millions: who supplies aluminium to the company?")
    aluminium = found[tokens("aluminium")[0]]
    assert all(found[word] < aluminium / 20 for word in tokens("response USD millions company"))


def test_a_sentence_that_only_says_how_to_answer_asks_for_nothing() -> None:
    def asked(question: str) -> set[str]:
        return {word.token for word in read_query(question).words}

    assert "zinc" not in asked("Reply clearly: zinc. Who supplies aluminium?")
    assert "zinc" in asked("Reply: zinc or tin. Who supplies aluminium?")


def test_words_of_the_asking_count_where_there_are_no_others() -> None:
    assert weights("company") != {}


def test_fiscal_years_are_years() -> None:
    for spelled in ("FY2018", "FY 2018", "FY18", "fiscal 2018", "FY'18"):
        assert "2018" in weights(f"{spelled} aluminium")


def test_a_year_and_a_name_count_less_than_a_word() -> None:
    found = weights("How much aluminium did Zyxoria buy in 2021?")
    (aluminium,), (name,) = tokens("aluminium"), tokens("Zyxoria")
    assert found[name] < found[aluminium]
    assert found["2021"] < found[aluminium]


def test_capitals_of_a_heading_name_nobody() -> None:
    found = weights("Zyxoria Quuxness")
    assert found[tokens("Zyxoria")[0]] == rarity(tuple(tokens("Zyxoria")))


def test_a_thing_brings_what_documents_call_it() -> None:
    said = {term.phrase for meaning in read_query("What was the capex?").meanings for term in meaning.terms}
    assert tuple(tokens("purchases of property and equipment")) in said
    assert read_query("What was the capex?").statements == {"cash flow"}


def test_words_of_a_phrase_stand_close_together() -> None:
    def meant(question: str) -> bool:
        phrase = tuple(tokens("total current assets"))
        return any(term.phrase == phrase for meaning in read_query(question).meanings for term in meaning.terms)

    assert meant("the ratio called quick")
    assert not meant("a quick answer about houses, mountains, rivers, lakes and birds, and then about one ratio")


def test_an_aside_weighs_less_than_what_is_asked() -> None:
    def most(question: str) -> float:
        return max(meaning.weight for meaning in read_query(question).meanings)

    aside = "capex, aluminium, zinc, copper, tungsten, lithium, cobalt, iridium, osmium, rhodium and palladium"
    assert most(aside) < most("capex")


@cases(
    ("question", "clause"),
    [
        ("Which state's law governs the interpretation of the contract?", True),
        ("Is there a cap on liability upon the breach of a party's obligation?", True),
        ("What is the FY2022 inventory turnover ratio?", False),
        ("aluminium", False),
    ],
)
def test_a_question_for_a_clause_is_known(question: str, clause: bool) -> None:
    assert read_query(question).clause is clause


def test_rare_words_say_more_than_common_ones() -> None:
    assert rarity(("aluminium",)) > rarity(("asset",)) > rarity(("agreement",)) > 0


@cases("question", ["", " ", "the of and", "?!"])
def test_a_question_without_words_asks_for_nothing(question: str) -> None:
    assert read_query(question).terms == ()


def test_a_question_as_long_as_a_book_is_read_to_a_limit() -> None:
    assert len(read_query(" ".join(f"word{number}" for number in range(50_000))).terms) <= 2000
