"""Which figures contradict each other, which one counts, and what follows from them."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from tasks.figures.conflicts import FigureConflict, RoomFigure, find_conflicts
from tasks.figures.derived import derive
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
