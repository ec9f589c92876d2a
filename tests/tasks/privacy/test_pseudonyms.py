"""Stand-ins for names: no name leaves, whatever its form, and every text comes back to the letter."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tasks.ai.answerer import Answer, AnswerCut, Source, T, Verdict
from tasks.ai.registry import PseudonymousAnswerer
from tasks.privacy import Names, StandIns, listed_names, profile_names, signature_names
from tasks.spending.budget import Ledger
from tasks.spending.money import Usage
from tests.cases import cases
from tests.tasks.ai.quoting_answerer import QuotingAnswerer

NAMES = Names(
    frozenset({"Anna Müller-Lüdenscheidt", "Mark Price", "Zoë d'Arcy", "Jürgen Weiß"}),
    frozenset({"Nordwind Software GmbH", "Deutsche Bank AG", "3i", "eBay Inc."}),
)


@cases(
    ("text", "gone"),
    [
        ("Anna Müllers Vertrag, MÜLLER und Mueller", "müller mueller anna"),
        ("der Müllervertrag und die Nordwind-Gruppe", "müller nordwind"),
        ("see anna.mueller@nordwind.example, Anna_Mueller_CV.pdf", "mueller nordwind anna"),
        ("Jürgen WEISS, u\u0308ber Mu\u0308ller", "weiss jürgen mu\u0308ller"),
        ("Mr Price and Mark Price, and MARK PRICE", "price mark"),
        ("Zoë d'Arcy's shares of 3i and EBAY", "zoë arcy 3i ebay"),
        ("a loan of Deutsche Bank", "deutsche bank"),
    ],
)
def test_no_form_of_a_name_leaves(text: str, gone: str) -> None:
    (hidden,), show = StandIns(NAMES).hide([text])
    assert [name for name in gone.split() if name in hidden.casefold()] == []
    assert show(hidden) == text


@cases(
    "text",
    ["The price may mark a bank.", "Interest of internationals", "Softwares of a new kind", "Personnel, PERSONNEL"],
)
def test_words_of_the_language_stay(text: str) -> None:
    names = NAMES | Names(companies=frozenset({"Inter AG"}))
    assert StandIns(names).hide([text])[0] == [text]


FORMS = "Anna Müller MÜLLER mueller Mu\u0308ller mÜLLER Price Mark Weiß WEISS 3i eBay EBAY Ebay Deutsche Bank".split()  # noqa: SIM905 - words
MARKS = ("personq", "PersonqBCDF", "firmqb", "FIRMX", "perſonq", "s", "'s", "2", "-", "_", " ", "\n", ".", "İ", "ﬁ")
pieces = st.lists(st.sampled_from([*FORMS, *MARKS]) | st.text(max_size=4))


@settings(max_examples=150, deadline=None)
@given(pieces)
def test_every_text_comes_back_to_the_letter(parts: list[str]) -> None:
    text = "".join(parts)
    (hidden, other), show = StandIns(NAMES).hide([text, "Anna Müller"])
    assert show(hidden) == text
    assert show(other) == "Anna Müller"
    assert "Müller" not in other


def test_stand_ins_stay_the_same_and_are_put_back_in_other_letters() -> None:
    stand_ins = StandIns(NAMES)
    (first,), _ = stand_ins.hide(["Nordwind"])
    (second,), show = stand_ins.hide(["what Nordwind owes to Anna"])
    assert first in second
    assert show(f"{first.lower()} owes, {first.upper()}!") == "nordwind owes, NORDWIND!"
    assert show(f"{first[:-1]}Z and nothing") == f"{first[:-1]}Z and nothing"


@cases(
    ("text", "people", "companies"),
    [
        ("Name: Anna Müller\nTitle: CEO", {"Anna Müller"}, set()),
        (
            "Nordwind Software GmbH\nBy: ______\nName: Dr. Karl von Stein",
            {"Dr. Karl von Stein"},
            {"Nordwind Software GmbH"},
        ),
        ("/s/ Jane Q. Public\nDirector", {"Jane Q. Public"}, set()),
        ("Mit freundlichen Grüßen\n\nAnna Müller\nGeschäftsführerin", {"Anna Müller"}, set()),
        ("Nom : Zoë Lefèvre\nQualité : gérante", {"Zoë Lefèvre"}, set()),
        ("Yours sincerely,\nNiels Havbro, Corporate banking", {"Niels Havbro"}, set()),
        ("Accepted for Fjord A/S: Mette Lind, 19 June 2023", {"Mette Lind"}, {"Fjord A/S"}),
        ("[comment, Inês Valadares, 2025-02-06T16:20:00Z: never done]", {"Inês Valadares"}, set()),
        ("From: Ada Byron <a@b.example>\nTo: Bo Ek, Cy Fox\nSubject: Rent", {"Ada Byron", "Bo Ek", "Cy Fox"}, set()),
        ("Name\tAnna Müller\nTitle\tCEO", {"Anna Müller"}, set()),
        ("Name: the product\nPrice: 4 euros", set(), set()),
        ("Name: Red Pump\nPrice: 4 euros", set(), set()),
        ("From: North Sea\nPrice: 4 euros", set(), set()),
        ("Delivery: in May\nNordwind Software GmbH", set(), set()),
        ("Name: Anna for Müller\nTitle: CEO", set(), set()),
        ("Name: Anna Bea Cora Dora Else Fee Gina Hope\nTitle: CEO", set(), set()),
        ("The agreement was signed by the parties. Best regards", set(), set()),
    ],
)
def test_signature_blocks_tell_names(text: str, people: set[str], companies: set[str]) -> None:
    assert signature_names(f"A letter.\n\n{text}\n") == Names(frozenset(people), frozenset(companies))


def test_lists_and_profiles_tell_names() -> None:
    profile = {
        "name": "Nordwind",
        "affiliated_companies": [{"name": "Sturm AG"}],
        "funding_data": [{"investor_list": [{"name": "Ada Byron", "type": "person"}]}, {"investor_list": None}],
    }
    found = profile_names("Nordwind GmbH", "nordwind.example", profile)
    assert found == Names(frozenset({"Ada Byron"}), frozenset({"Nordwind GmbH", "Nordwind", "nordwind", "Sturm AG"}))
    listed = listed_names(["#ours", "Anna Müller", "", "Sturm AG", "Hope"])
    assert listed == Names(frozenset({"Anna Müller"}), frozenset({"Sturm AG", "Hope"}))


class Finding(BaseModel):
    who: str
    quotes: list[str]


class Echo(QuotingAnswerer):
    """A model that says what it was told."""

    model, judges = "echo", True

    def __init__(self) -> None:
        self.told: list[str] = []

    def answer(self, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None) -> Answer:
        said = " ".join([question, *(f"{source.name} {source.place} {source.text}" for source in sources)])
        self.told.append(said)
        if "cut" in question:
            raise AnswerCut("cut", text=said)
        return Answer(said, Usage(), (said,))

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,
        one_attempt: bool = False,
    ) -> Verdict[T]:
        self.told.append(instructions + material)
        return Verdict(schema.model_validate({"who": instructions, "quotes": [material]}), Usage())


@pytest.mark.usefixtures("home")
def test_answers_judgements_and_what_is_left_of_a_cut_one_have_the_names() -> None:
    echo = Echo()
    asked = PseudonymousAnswerer(echo, lambda: NAMES)
    source = Source(1, "Mueller.pdf", "Müller, page 1", "Anna Müller owes Nordwind 4 euros.")
    answer = asked.answer("Who is Müller?", [source])
    assert answer.text == f"Who is Müller? {source.name} {source.place} {source.text}"
    assert answer.notes == (answer.text,)
    assert asked.judge("Judge Nordwind", "of Müller", Finding).value == Finding(
        who="Judge Nordwind", quotes=["of Müller"]
    )
    with pytest.raises(AnswerCut) as cut:
        asked.answer("cut Müller", [])
    assert cut.value.text == "cut Müller"
    assert [name for name in ("Müller", "Mueller", "Anna", "Nordwind") if name in " ".join(echo.told)] == []
