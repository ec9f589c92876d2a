"""Where companies stand: what is proven of all the weight, what is open, gates, and shared ranks."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.runs import RunCompany
from storage.scores import Absence, CriterionOutcome, ScoreStatus
from tasks.errors import BadRequest
from tasks.scoring.criteria import Criteria, read_criteria
from tasks.scoring.results import Standing, rank, stand
from tasks.scoring.score import score_criteria
from tests.cases import cases
from tests.tasks.scoring.conftest import Room

SCORED, MISSING, UNSCORED = ScoreStatus.SCORED, ScoreStatus.MISSING, ScoreStatus.UNSCORED


def outcome(
    name: str, status: ScoreStatus, score: float | None = None, absence: Absence | None = None
) -> CriterionOutcome:
    return CriterionOutcome(
        company_id=1, ordinal=0, criterion_id=name, kind="document", weight=1, score=score, status=status,
        absence=absence, reason="", evidence="",
    )  # fmt: skip


def standing(*outcomes: CriterionOutcome, **fields: Any) -> tuple[Standing, RunCompany]:
    """Of a company with these outcomes and two criteria of weight 1, the first with these fields."""
    rows = [
        {"id": "a", "document": "accounts", "weight": 1.0} | fields,
        {"id": "b", "document": "lease", "weight": 1.0},
    ]
    company = RunCompany(run_id="r", ordinal=0, name="", domain="", folder="")
    stand(company, outcomes, Criteria.model_validate({"scale": (0, 5), "criteria": rows}))
    return Standing.of(company), company


def test_what_is_missing_in_a_room_that_was_read_earns_nothing_and_is_not_open() -> None:
    found, company = standing(outcome("a", SCORED, 5), outcome("b", MISSING, absence=Absence.SILENT))
    assert (found.proven, found.high, found.coverage, found.ranked) == (0.5, 0.5, 0.5, True)
    assert company.total == 1


@pytest.mark.parametrize(
    ("status", "absence"),
    [(UNSCORED, None), (ScoreStatus.UNSUPPORTED, None), (MISSING, Absence.UNREAD), (MISSING, Absence.NOT_APPLICABLE)],
)
def test_what_was_not_read_or_not_scored_is_open(status: ScoreStatus, absence: Absence | None) -> None:
    found, _ = standing(outcome("a", status, absence=absence), outcome("b", SCORED, 2))
    assert (found.proven, found.high) == (0.2, 0.7)


@pytest.mark.parametrize("without", [[outcome("a", MISSING, absence=Absence.SILENT)], []], ids=["open", "not reached"])
def test_what_is_missing_and_open_or_was_not_reached_leaves_its_weight_open(without: list[CriterionOutcome]) -> None:
    found, _ = standing(*without, outcome("b", SCORED, 5), missing="open")
    assert (found.proven, found.high, found.coverage) == (0.5, 1, 0.5)


def test_below_half_of_the_weight_there_is_no_rank() -> None:
    found, _ = standing(outcome("a", UNSCORED), outcome("b", SCORED, 5), weight=1.1)
    assert not found.ranked


@cases(
    ("of_gate", "fields", "failed", "unknown"),
    [
        (outcome("a", SCORED, 5), {}, [], []),
        (outcome("a", SCORED, 2), {}, ["a"], []),
        (outcome("a", SCORED, 2), {"severity": {"high": 1.0}}, [], []),
        (outcome("a", MISSING, absence=Absence.SILENT), {}, ["a"], []),
        (outcome("a", MISSING, absence=Absence.SILENT), {"missing": "open"}, [], ["a"]),
        (outcome("a", MISSING, absence=Absence.UNREAD), {}, [], ["a"]),
        (outcome("a", UNSCORED), {}, [], ["a"]),
    ],
)
def test_a_gate_is_failed_met_or_not_known(
    of_gate: CriterionOutcome, fields: dict[str, Any], failed: list[str], unknown: list[str]
) -> None:
    found, _ = standing(of_gate, outcome("b", SCORED, 5), must=True, **fields)
    assert (found.gates_failed, found.gates_open, found.ranked) == (failed, unknown, not failed)


def ranks(*ranges: tuple[float, float] | None) -> list[int | None]:
    """The ranks of companies that have proven, and may reach, so much; None is not ranked."""
    return rank([Standing(proven=ends[0], high=ends[1], coverage=1) if ends else Standing() for ends in ranges])


@cases(
    ("ranges", "expected"),
    [
        ([(0.7, 0.7), (0.6, 0.6), (0.7, 0.7), None], [1, 3, 1, None]),
        ([(0.5, 0.5), (0.3, 0.9)], [1, 1]),  # one within the other
        ([(0.6, 0.8), (0.5, 0.7)], [1, 2]),  # they overlap in part
        ([(0.7, 0.7), (0.6, 0.6), (0.3, 0.75)], [1, 2, 2]),  # what is open never gets ahead of what is proven
        ([], []),
    ],
)
def test_ranks_are_shared_where_one_range_lies_within_the_other(
    ranges: list[tuple[float, float] | None], expected: list[int | None]
) -> None:
    for order in permutations(range(len(ranges))):
        assert ranks(*(ranges[at] for at in order)) == [expected[at] for at in order]


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)).map(lambda ends: (ends[0] / 10, max(ends) / 10))))
def test_nobody_is_ahead_of_who_has_proven_more(ranges: list[tuple[float, float]]) -> None:
    found = ranks(*ranges)
    for (one, _), place in zip(ranges, found, strict=True):
        assert place is not None
        assert all(
            other is not None and (place <= other or one <= proven)
            for (proven, _), other in zip(ranges, found, strict=True)
        )
    assert not ranges or min(place or 0 for place in found) == 1


def test_a_gate_that_is_missing_and_an_unread_document_are_told(room: Room) -> None:
    room.asks({"id": "accounts", "document": "audited accounts", "must": True})
    room.holds("Lease.txt", "Lease of the office.")
    room.holds("Dockerfile")
    assert score_criteria(room.id)
    assert room.outcomes["accounts"].absence == "silent"
    assert Standing.of(room.company).gates_failed == ["accounts"]
    for number in range(5):
        room.holds(f"Scan {number}.pdf")
    assert score_criteria(room.id)
    assert room.outcomes["accounts"].absence == "unread"
    named = "Scan 0.pdf, Scan 1.pdf, Scan 2.pdf and 2 more"
    assert room.outcomes["accounts"].reason.endswith(f"It may lie in 5 documents that could not be read: {named}.")
    assert Standing.of(room.company).gates_open == ["accounts"]


@pytest.mark.parametrize("line", ["must: perhaps", "missing: maybe"])
def test_a_wrong_gate_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "criteria.yaml"
    file.write_text(f"criteria:\n  - id: a\n    document: accounts\n    {line}\n")
    with pytest.raises(BadRequest, match=f"line 4.*{line.partition(':')[0]}"):
        read_criteria(file)
