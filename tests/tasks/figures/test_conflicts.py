"""Which figures contradict each other, which one counts, and of which of several companies a document's are."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from tasks.figures.conflicts import FigureConflict, RoomFigure, find_company, find_conflicts, name_other_companies
from tasks.figures.derived import choose_counted_figures, derive
from tasks.figures.document import kind_by_name
from tasks.figures.figure import Figure
from tests.cases import cases


def row(value: str, step: str = "1", **changes: Any) -> RoomFigure:
    """ARR of a company at the end of 2024, management's, from `a.xlsx`; `changes` are of the figure or the row."""
    figure = Figure(
        "recurring_revenue", "ARR", Decimal(value), "EUR", "", Decimal(step), "2024-12-31", None, None, "", "p", 0, 1
    )
    plain = RoomFigure(figure, "management", "a", "a.xlsx", "", deck=False, dated=None)
    of_figure = {name: change for name, change in changes.items() if name in Figure.__slots__ and name != "basis"}
    of_row = {name: change for name, change in changes.items() if name not in of_figure}
    return replace(plain, figure=replace(figure, **of_figure), **of_row)


def only(*rows: RoomFigure) -> FigureConflict:
    (conflict,) = find_conflicts(rows)
    return conflict


def test_figures_that_differ_beyond_rounding_are_a_conflict() -> None:
    conflict = only(row("7100000"), row("9400000", "100000", document_id="b", document_name="b.pptx", deck=True))
    assert conflict.counted.figure.value == 7_100_000
    assert [other.document_name for other in conflict.others] == ["b.pptx"]
    assert conflict.rule == "basis: management before deck"


@cases(
    "other",
    [
        row("9400000", "100000"),
        row("7100000", period="2023-12-31"),
        row("7100000", entity="Retail"),
        row("7100000", unit="USD"),
        row("7100000", basis="budget"),
        row("7100000", basis="pro_forma"),
        row("7100000", variant="as previously reported"),
    ],
)
def test_what_need_not_agree_is_no_conflict(other: RoomFigure) -> None:
    assert find_conflicts([row("9412345"), other]) == []


@cases(
    ("better", "worse", "rule"),
    [
        ({"basis": "audited"}, {"dated": "2025-06-01"}, "basis: audited before management"),
        (
            {"document_name": "accounts signed.pdf"},
            {"document_name": "accounts draft.pdf"},
            "authority: signed or final before draft",
        ),
        ({"path": "Final"}, {"dated": "2025-06-01"}, "authority: signed or final before neither signed nor draft"),
        ({"dated": "2025-06-01"}, {"dated": "2025-01-01"}, "newer: the document with the later date"),
    ],
)
def test_the_rule_decides_which_counts(better: dict[str, Any], worse: dict[str, Any], rule: str) -> None:
    conflict = only(row("2", **worse), row("1000", **better))
    assert (conflict.counted.figure.value, conflict.rule) == (Decimal(1000), rule)


def test_the_order_of_the_rule_can_be_changed() -> None:
    rows = [row("2", basis="audited"), row("1000", dated="2025-06-01")]
    assert find_conflicts(rows, ("newer", "basis"))[0].counted.figure.value == 1000


def test_what_follows_from_figures_names_its_inputs() -> None:
    rows = [
        row("3400000", concept="cash"),
        row("380000", concept="monthly_burn", period="2024-07-01/2024-12-31"),
        row("7100000"),
        row("4600000", period="2023-12-31"),
    ]
    found = {derived.name: (derived.value, derived.unit, len(derived.inputs)) for derived in derive(rows)}
    assert found == {
        "runway": (Decimal("8.9"), "months", 2),
        "recurring_revenue_growth": (Decimal("54.3"), "percent", 2),
    }


def test_churn_of_a_month_is_not_that_of_a_year() -> None:
    yearly = row("18", concept="churn")
    monthly = replace(yearly, figure=replace(yearly.figure, label="Monthly logo churn", value=Decimal("1.8")))
    assert find_conflicts([yearly, monthly]) == []
    other = replace(monthly, document_id="b", figure=replace(monthly.figure, value=Decimal("2.9")))
    assert len(find_conflicts([monthly, other])) == 1


def test_a_number_written_out_to_noughts_may_be_rounded_to_them() -> None:
    assert find_conflicts([row("48102"), row("48100", document_id="b")]) == []
    assert len(find_conflicts([row("48170"), row("48100", document_id="b")])) == 1
    assert len(find_conflicts([row("9412345"), row("9000000", document_id="b")])) == 1  # too few digits are told


def test_a_figure_cut_off_at_thousands_agrees() -> None:
    exact = row("48616507")
    assert find_conflicts([exact, row("48616000", "1000", scale="thousand")]) == []
    assert len(find_conflicts([exact, row("48615000", "1000", scale="thousand")])) == 1
    assert len(find_conflicts([exact, row("48618000", "1000", scale="thousand")])) == 1
    assert len(find_conflicts([row("9480000"), row("9400000", "100000", scale="million")])) == 1  # too few digits


@cases(
    ("name", "basis"),
    [
        ("Investor deck.txt", "reported"),
        ("Pitch.pptx", "reported"),
        ("Management accounts June 2025.pptx", "management"),
    ],
)
def test_a_deck_reports_and_counts_last_whatever_its_basis(name: str, basis: str) -> None:
    kind = kind_by_name(name, f".{name.rpartition('.')[2]}")
    assert kind is not None
    assert (kind.basis, kind.deck) == (basis, True)
    accounts = row("7100000", basis="management")
    conflict = only(accounts, row("9400000", basis=kind.basis, deck=True, document_id="b", document_name=name))
    assert conflict.counted == accounts


@cases(
    ("text", "name", "company"),
    [
        ("SEVEN A.D. INC.\nSTATEMENTS OF FINANCIAL POSITION\nCash\t5", "accounts.pdf", "SEVEN A.D. INC."),
        ("\tJan 2025\nASSETS\t\nDue from Skuxs LLC\t200", "FOMIN+LLC_Balance+Sheet.pdf", "FOMIN LLC"),
        ("Assets, 2020-07-31: DKK 5\nName Of Reporting Entity: Rengøring & Co ApS", "a.xml", "Rengøring & Co ApS"),
        ("Nazwa Firmy: Alfa Polska Sp. z o.o.\nAktywa: 5", "case.xml", "Alfa Polska Sp. z o.o."),
        ("# Muster Verlag für Bau GmbH\nBilanz", "bilanz.md", "Muster Verlag für Bau GmbH"),
        ("<h1>DataFlex</h1>\nNASDAQ: DFLX\n", "report.md", "DFLX"),
        ("Loan agreement\nAcme Ltd\nBeta Ltd\n", "loan.pdf", ""),
        ("Revenue by customer\nBig Lots Stores Inc\t19,920\nRoss Stores Inc\t50\n", "sales.pdf", ""),
        ("STATEMENT OF FINANCIAL POSITION AS\nof December 31, 2024\n", "balance.pdf", ""),
        ("Revenue of the company\nHolding Company\nAbout Acme Inc.\n", "memo.pdf", ""),
        ("Project Falcon\nGoldman Sachs & Co. LLC\nRevenue 5", "teaser.pdf", ""),
        ("Company name: TBD\nPublic Limited Company\nBalance Sheet Co.", "template.xlsx", ""),
        ("Acme Ltd\n" + "Revenue grew in all our markets.\n" * 200, "letter.pdf", ""),
    ],
)
def test_a_document_names_its_own_company(text: str, name: str, company: str) -> None:
    assert find_company(text, name) == company


def test_a_name_that_recognition_read_once_is_not_sure() -> None:
    assert find_company("SAHYUE LIMITED\nRevenue\t5", "scan.pdf", recognised=True) == ""


def _row(value: int, text_id: int, concept: str = "revenue") -> RoomFigure:
    period = "2024-01-01/2024-12-31"
    figure = Figure(concept, "Revenue", Decimal(value), "EUR", "", Decimal(1), period, None, None, "", "p", 0, 1)
    return RoomFigure(figure, "management", f"{text_id}", f"{text_id}.pdf", "", deck=False, dated=None, text_id=text_id)


def test_figures_of_another_company_contradict_nothing_and_answer_nothing() -> None:
    texts = ["Acme GmbH\nRevenue 500", "Acme deck", "Beta Trading Ltd\nRevenue 700"]
    rows = name_other_companies(
        [_row(500, 0), _row(700, 2)], {0: "Acme GmbH", 1: None, 2: "Beta Trading Ltd"}, texts.__getitem__
    )
    assert [row.figure.entity for row in rows] == [None, "Beta Trading Ltd"]
    assert find_conflicts(rows) == []
    assert [row.figure.value for row in choose_counted_figures(rows)] == [500]


@cases(
    "other",
    [
        "Beta Trading Ltd, formerly Acme GmbH",
        "Beta Trading Ltd\nparent company: ACME",
        "Beta Trading Ltd\nwww.acmerobotics.com",
        "Beta Trading Ltd\nAccounts of the ARH group",
    ],
)
def test_documents_that_mention_each_other_are_of_one_room(other: str) -> None:
    companies = {0: "Acme Robotics Holding GmbH", 1: "Beta Trading Ltd"}
    if "www" in other:
        companies[0] = "Acme Robotics GmbH"
    rows = name_other_companies([_row(500, 0), _row(700, 1)], companies, ["Acme", other].__getitem__)
    assert len(find_conflicts(rows)) == 1


def test_of_two_companies_that_no_document_connects_none_is_the_rooms() -> None:
    rows = name_other_companies(
        [_row(500, 0), _row(700, 1)], {0: "Acme AG", 1: "Beta SE"}, ["Acme", "Beta"].__getitem__
    )
    assert choose_counted_figures(rows) == []


def test_documents_that_differ_tenfold_in_all_they_share_are_not_of_one_company() -> None:
    shared = [_row(26_914, 0), _row(1_000, 1), _row(10_041, 0, "ebitda"), _row(280, 1, "ebitda")]
    assert find_conflicts(shared) == []
    assert len(find_conflicts(shared[:2])) == 1
    agreeing = [*shared, _row(77, 0, "cash"), _row(77, 1, "cash")]
    assert len(find_conflicts(agreeing)) == 2
    inflated = [replace(row, figure=replace(row.figure, value=row.figure.value * 3)) for row in shared[::2]]
    doubled = [replace(row, document_id="1", document_name="1.pdf") for row in inflated]
    assert len(find_conflicts([*shared[::2], *doubled])) == 2


@cases("called", ["Acme", "ACME AG"])
def test_the_company_that_the_batch_names_is_the_rooms(called: str) -> None:
    named = {0: "Acme AG", 1: "Beta SE", 2: "Beta SE"}
    rows = name_other_companies(
        [_row(500, 0), _row(700, 1), _row(700, 2)], named, ["Acme", "Beta", "Beta"].__getitem__, called
    )
    assert [row.figure.value for row in choose_counted_figures(rows)] == [500]


@cases("called", ["", "Project Falcon", "Beta Health"])
def test_a_batch_that_names_none_of_them_leaves_it_to_the_documents(called: str) -> None:
    named = {0: "Acme AG", 1: "Beta Trading SE", 2: "Beta Trading SE"}
    rows = name_other_companies(
        [_row(500, 0), _row(700, 1), _row(700, 2)], named, ["Acme", "Beta", "Beta"].__getitem__, called
    )
    assert [row.figure.value for row in choose_counted_figures(rows)] == [700]
