"""The harness in `make test-all`: each pair of point and fault once; and that it sees what it is there to see."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.cases import cases
from tests.faults.comparison import Left, differences, wrong_bill
from tests.faults.faults import PAIRS, Fault, Kind, Plan, makes_sense, pair_of, plan_of, without_numbers
from tests.faults.points import label_of
from tests.faults.scenario import Bill
from tests.homes import make_home

_ROOT = Path(__file__).parents[2]
_EMBEDDED = [Kind.SQLITE, Kind.FILE, Kind.READER]
_OTHERS = [kind for kind in Kind if kind not in _EMBEDDED]


@pytest.mark.slow  # 40 s of processor time each; `make faults` runs hundreds
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("kinds", "options"),
    [
        pytest.param(_EMBEDDED, [], marks=pytest.mark.nightly),
        pytest.param(_OTHERS, [], marks=pytest.mark.nightly),
        pytest.param([Kind.FILE, Kind.READER], ["--on-disk", "--twice"], marks=pytest.mark.nightly),
    ],
    ids=["embedded", "others", "on a disk, two faults"],
)
def test_after_a_fault_and_a_second_run_nothing_is_lost_doubled_or_left(kinds: list[Kind], options: list[str]) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.faults",
        "--verbose",
        "--seeds",
        f"0:{len(PAIRS)}",
        "--kinds",
        ",".join(kinds),
        *options,
    ]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{sum(kind in kinds for kind, _ in PAIRS)} cases, 0 with defects" in done.stdout


def test_seeds_in_a_row_have_each_pair_once() -> None:
    assert Counter(pair_of(seed) for seed in range(7, 7 + len(PAIRS))) == Counter(PAIRS)


def test_a_seed_is_the_same_case_again_and_another_seed_another() -> None:
    labels = ["COMMIT"] * 50 + ["INSERT runs"]
    seeds = range(0, 20 * len(PAIRS), len(PAIRS))
    assert [plan_of(seed, labels) for seed in seeds] == [plan_of(seed, labels) for seed in seeds]
    assert len({plan_of(seed, labels) for seed in seeds}) > 5
    assert {plan_of(seed, labels).label for seed in seeds} == {"COMMIT", "INSERT runs"}


def test_a_plan_comes_through_as_json() -> None:
    plan = Plan(Kind.MODEL, "plan", 2, Fault.DROP, "within")
    assert Plan.from_json(plan.as_json()) == plan


def test_a_fault_that_cannot_be_is_not_chosen() -> None:
    assert not makes_sense(Kind.SQLITE, "COMMIT", Fault.LOCK)
    assert not makes_sense(Kind.FILE, "remove out/report.zip", Fault.NO_SPACE)
    with pytest.raises(ValueError, match="no point"):
        plan_of(0, [])


@cases(
    ("statement", "label"),
    [
        ('INSERT INTO "runs" (id) VALUES (?)', "INSERT runs"),
        ("UPDATE texts SET cutter=?", "UPDATE texts"),
        ("DELETE FROM passages WHERE", "DELETE passages"),
        ("BEGIN IMMEDIATE", "BEGIN IMMEDIATE"),
        ("BEGIN", None),
        ("SELECT 1", None),
    ],
)
def test_statements_that_write_are_points(statement: str, label: str | None) -> None:
    assert label_of(statement) == label


def test_names_that_differ_from_run_to_run_are_one_point() -> None:
    assert without_numbers("spool/411-gw_hrior") == without_numbers("spool/97-a1b2c3d4")
    assert without_numbers("evidence/a78c69f89a32f9ced9d91591.html") == "evidence/#.html"


def test_what_is_lost_doubled_or_different_is_told() -> None:
    expected = Left({"run": {"status": "finished"}}, frozenset({"report.zip"}), {"texts": Counter(["a", "b"])})
    found = Left({"run": {"status": "failed"}}, frozenset({"report.json"}), {"texts": Counter(["a", "a"])})
    assert list(differences(expected, expected)) == []
    assert list(differences(expected, found)) == [
        "report: .run.status: failed in place of finished",
        "file report.json is too many",
        "file report.zip is missing",
        "1 row of texts lost: b",
        "1 row of texts too many: a",
    ]


def test_a_bill_that_the_tables_do_not_tell_is_a_defect(tmp_path: Path) -> None:
    database = f"sqlite:///{make_home(tmp_path / 'home')}/diligence.db"
    assert list(wrong_bill(database, Bill(), may_repeat=False, may_lose=False)) == []
    unseen = Bill(calls=1, input_tokens=10, output_tokens=2, prompts=Counter(["p"]))
    assert len(list(wrong_bill(database, unseen, may_repeat=False, may_lose=False))) == 2
