"""Criteria on the figures of a room: scored without a model, quoted, and missing with what comes nearest."""

from typing import Any

import pytest

from storage.scores import ScoreStatus
from tasks.scoring.score import score_criteria
from tests.cases import cases
from tests.tasks.scoring.conftest import Room

ACCOUNTS = (
    "Alpha Ltd\nAudited financial statements for the year ended 31 December 2024\n\n"
    "EUR thousand\t2024\t2023\nRevenue\t12,000\t10,000\nGross profit\t9,000\t7,000\nCash\t3,000\t2,500\n"
)
BUDGET = "Budget 2025\nEUR thousand\t2025\nRevenue\t20,000\n"


@pytest.fixture
def accounts(room: Room) -> Room:
    room.holds("Audited accounts 2024.txt", ACCOUNTS)
    room.holds("Budget 2025.txt", BUDGET)
    return room


def scored(room: Room, **criterion: Any) -> tuple[ScoreStatus, float | None, str]:
    room.asks({"id": "a", **criterion})
    assert score_criteria(room.id)
    outcome = room.outcomes["a"]
    return outcome.status, outcome.score, outcome.reason


def test_growth_is_that_of_the_newest_actual_year_and_quotes_its_row(accounts: Room) -> None:
    status, score, reason = scored(accounts, figure="revenue", rule="growth >= 20 %", period="latest")
    assert (status, score) == (ScoreStatus.SCORED, 5)
    assert reason == (
        "Revenue growth is 20 % in the year to 2024-12-31 (revenue EUR 12,000,000 in the year to 2024-12-31, audited "
        "[1]; revenue EUR 10,000,000 in the year to 2023-12-31, audited [2]). "
        "You asked for growth of at least 20 %: met."
    )
    quotes = accounts.quotes("a")
    assert [(quote.text, quote.verified, quote.document_name) for quote in quotes][:1] == [
        ("Revenue\t12,000\t10,000", True, "Audited accounts 2024.txt")
    ]


def test_one_figure_far_ahead_does_not_make_the_others_old(accounts: Room) -> None:
    accounts.holds("Note.txt", "Headcount at 31 December 2026: 72 employees.\n")
    assert scored(accounts, figure="revenue", rule=">= EUR 12 million")[:2] == (ScoreStatus.SCORED, 5)


@cases(
    ("figure", "rule", "score"),
    [
        ("revenue", ">= EUR 12 million", 5), ("revenue", "> 12m", 0), ("turnover", ">= 12,000,000", 5),
        ("revenue growth", ">= 19.5 %", 5), ("gross margin", ">= 75 %", 5), ("gross profit / revenue", "< 75 %", 0),
        ("gross profit / revenue", ">= 0.75", 5), ("revenue - gross profit", "<= 3 m", 5),
        ("revenue", "between 10 and 12 million", 5), ("revenue", "between EUR 13 m and EUR 14 m", 0),
        ("revenue", "growth between 10 and 20 %", 5), ("gross profit / revenue", "0.7 to 0.8", 5),
    ],
)  # fmt: skip
def test_rules_on_values_growth_ratios_and_differences(accounts: Room, figure: str, rule: str, score: float) -> None:
    assert scored(accounts, figure=figure, rule=rule)[:2] == (ScoreStatus.SCORED, score)


@pytest.mark.parametrize(("period", "score"), [("2023", 0), (2023, 0), ("2024-12-31", 5), ("2024-01-01/2024-12-31", 5)])
def test_a_period_can_be_named(accounts: Room, period: Any, score: float) -> None:
    assert scored(accounts, figure="revenue", rule=">= 11 m", period=period)[:2] == (ScoreStatus.SCORED, score)


@pytest.mark.parametrize(("period", "score"), [("FY24", 5), ("2024-Q3", 0), ("Q3 2024", 0), ("2024-h1", None)])
def test_a_quarter_of_the_calendar_year_can_be_named(accounts: Room, period: str, score: float | None) -> None:
    accounts.holds("Minutes.txt", "In the quarter ended 30 September 2024 revenue was EUR 3,100 thousand.\n")
    assert scored(accounts, figure="revenue", rule=">= 11 m", period=period)[1] == score


def test_months_may_be_said_in_years(room: Room) -> None:
    room.holds(
        "Minutes.txt", "Cash stood at EUR 3.0 million at 30 June 2025. Monthly burn was EUR 200,000 in June 2025.\n"
    )
    assert scored(room, figure="runway", rule="1 to 2 years")[1] == 5
    assert scored(room, figure="runway", rule=">= 2 years")[1] == 0


def test_runway_is_cash_by_monthly_burn(room: Room) -> None:
    room.holds(
        "Minutes.txt", "Cash stood at EUR 3.0 million at 30 June 2025. Monthly burn was EUR 200,000 in June 2025.\n"
    )
    status, score, reason = scored(room, figure="cash / monthly burn", rule=">= 12")
    assert (status, score) == (ScoreStatus.SCORED, 5)
    assert reason.startswith("Cash ÷ monthly burn is 15 months at 2025-06-30 (cash EUR 3,000,000")
    assert len(room.quotes("a")) == 2


def test_the_largest_customers_share_is_quoted_from_its_sentence(room: Room) -> None:
    sentence = "The largest customer accounted for 31 % of revenue in 2024."
    room.holds("Management report 2024.txt", f"We serve many industries. {sentence} It renews each May.\n")
    status, score, _ = scored(room, figure="largest customer share", rule="<= 25 %")
    assert (status, score) == (ScoreStatus.SCORED, 0)
    assert [quote.text for quote in room.quotes("a")] == [sentence]


@pytest.mark.parametrize(
    ("bands", "score"),
    [
        ({5: "growth >= 20 %", 3: "growth >= 10 %"}, 5),
        ({5: "growth >= 40 %", 3: "growth >= 15 %", 0: "growth < 0 %"}, 3),
        ({5: "growth >= 50 %", 3: "growth >= 40 %", 0: "growth < 0 %"}, 1.5),
        ({5: "growth >= 50 %", 3: "growth >= 40 %"}, 0),
    ],
)
def test_between_bands_the_score_is_in_proportion(accounts: Room, bands: dict[float, str], score: float) -> None:
    assert scored(accounts, figure="revenue", bands=bands)[:2] == (ScoreStatus.SCORED, score)


def test_what_no_document_says_is_missing_with_what_comes_nearest(room: Room) -> None:
    room.holds("Budget 2025.txt", BUDGET)
    status, score, reason = scored(room, figure="revenue", rule="growth >= 20 %")
    assert (status, score) == (ScoreStatus.MISSING, None)
    assert reason.startswith("The documents do not give actual figures for revenue and for the year before.")
    assert "Nearest: revenue EUR 20,000,000 in the year to 2025-12-31, budget (Budget 2025.txt" in reason
    assert room.outcomes["a"].missing == "revenue growth"
    assert [near["document_name"] for near in room.outcomes["a"].nearest] == ["Budget 2025.txt"]


def test_of_two_figures_the_one_that_is_not_given_is_named(accounts: Room) -> None:
    _, _, reason = scored(accounts, figure="debt / revenue", rule="<= 3")
    assert reason.startswith(
        "No document gives an actual figure of the company for debt ÷ revenue. No actual figure is given for debt."
    )
    values = [words.split(" (")[0] for words in reason.partition("Nearest: ")[2].split("; ")]
    assert len(values) == len(set(values)) > 1


def test_a_rule_in_another_currency_is_not_held_against_the_figure(accounts: Room) -> None:
    status, _, reason = scored(accounts, figure="revenue", rule=">= USD 5 million")
    assert (status, accounts.outcomes["a"].missing) == (ScoreStatus.UNSCORED, None)
    assert reason.startswith("The figures for revenue are in EUR, so the rule cannot be applied to them.")


def test_a_figure_that_another_document_contradicts_says_so(accounts: Room) -> None:
    accounts.holds("Deck.txt", "Investor deck\n\nEUR m\t2024\nRevenue\t15.0\n")
    status, score, reason = scored(accounts, figure="revenue", rule="<= 12.5 m")
    assert (status, score) == (ScoreStatus.SCORED, 5)
    assert reason.endswith("Deck.txt says EUR 15,000,000, which does not count (basis: audited before deck).")
    assert [said["about"] for said in accounts.outcomes["a"].contradictions] == ["revenue in the year to 2024-12-31"]


def test_what_is_missing_does_not_count_in_the_total(accounts: Room) -> None:
    accounts.asks({"id": "a", "figure": "revenue", "rule": "> 1"}, {"id": "b", "figure": "headcount", "rule": "> 1"})
    assert score_criteria(accounts.id)
    company = accounts.company
    assert (company.total, company.coverage) == (1, 0.5)
    assert company.standing is not None
    assert (company.standing["proven"], company.standing["high"]) == (0.5, 0.5)


def test_it_is_not_scored_again_while_the_room_is_the_same(accounts: Room) -> None:
    scored(accounts, figure="revenue", rule="> 1")
    outcome = accounts.outcomes["a"]
    assert score_criteria(accounts.id)
    assert accounts.outcomes["a"].id == outcome.id
    accounts.holds("Audited accounts 2024.txt", ACCOUNTS.replace("12,000", "13,000"))
    assert score_criteria(accounts.id)
    assert "13,000,000" in accounts.outcomes["a"].reason


def test_the_file_orders_what_decides_among_figures(room: Room) -> None:
    room.holds("Audited accounts 2024 draft.txt", ACCOUNTS)
    room.holds("Deck.txt", "Investor deck\n\nEUR m\t2024\nRevenue\t15.0\n")
    criterion = {"id": "a", "figure": "revenue", "rule": ">= 15 m"}
    for order, score in ((["basis", "authority"], 0), (["authority", "basis"], 5)):
        room.asks(criterion, figure_rule=order)
        assert score_criteria(room.id)
        assert room.outcomes["a"].score == score
