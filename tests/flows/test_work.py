"""Companies of which nothing has changed are taken over together; what is stored of them is what it always was."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from sqlmodel import Session, SQLModel

from flows import work
from flows.batch import batch
from flows.batch_file import read_batch
from flows.run import CompaniesFailed
from flows.steps import PLAIN
from storage import database, runs, scores
from storage.documents import RunDocument, company_documents
from storage.runs import RunStatus
from tasks.documents.kinds.room import room_kinds
from tasks.figures.ledger import room_ledger
from tasks.scoring import score
from tests.flows.conftest import write_room
from tests.homes import make_home
from tests.matrices import quick_cases

pytestmark = pytest.mark.usefixtures("without_prefect")


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def written(folder: Path) -> Any:
    """What a report says of its companies, but for what it says of the run before."""
    companies = json.loads((folder / "report.json").read_text())["companies"]
    for company in companies:
        del company["compared_with"], company["changes"]
        for document in company["documents"]:
            document["status"] = {"unchanged": "read"}.get(document["status"], document["status"])
        for fact in company["facts"]:
            del fact["retrieved_at"]
    return companies


def pages(folder: Path) -> dict[str, str]:
    """The evidence beside a report."""
    return {path.name: path.read_text() for path in (folder / "evidence").glob("*.html")}


def in_file(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Changes a file of the batch."""

    def change(folder: Path) -> None:
        file = folder / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return change


CHANGES: dict[str, Callable[[Path], None]] = {
    "nothing": lambda _: None,
    "a document": in_file("rooms/alpha/deck.txt", "Ninety", "Eighty"),
    "a figure": in_file("rooms/alpha/accounts.txt", "EUR 12", "EUR 10.5"),
    "a new document": lambda folder: write_room(folder / "rooms" / "beta", {"new.txt": "All revenue is recurring."}),
    "a document is gone": lambda folder: (folder / "rooms" / "alpha" / "notes.pdf").unlink(),
    "a fact": in_file("facts/alpha.example.json", "2012", "2022"),
    "a criterion's words": in_file("criteria.yaml", "most of the revenue", "any revenue"),
    "a criterion is gone": in_file("criteria.yaml", '  - {id: established, fact: founded_year, rule: "<= 2018"}\n', ""),
    "a weight": in_file("criteria.yaml", "weight: 3", "weight: 1"),
}


@pytest.mark.parametrize("change", quick_cases(CHANGES, quick=(0, 1, 6)))
def test_a_run_after_another_says_what_one_from_scratch_says(
    batch_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    criteria = batch_file.with_name("criteria.yaml")
    criteria.write_text(f'{criteria.read_text()}  - {{id: growing, figure: revenue, rule: "growth >= 10 %"}}\n')
    accounts = "Revenue in 2023 was EUR 10 million.\nRevenue in 2024 was EUR 12 million.\n"
    write_room(batch_file.parent / "rooms" / "alpha", {"accounts.txt": accounts})
    batch(batch_file, out=tmp_path / "out")
    CHANGES[change](batch_file.parent)
    batch(batch_file, out=tmp_path / "out")
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "another")))
    batch(batch_file, out=tmp_path / "scratch")
    assert written(tmp_path / "out") == written(tmp_path / "scratch")
    assert pages(tmp_path / "out") == pages(tmp_path / "scratch")


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The domains of the companies that are examined by themselves, from now on."""
    domains: list[str] = []
    examine = work.examine

    def noted(company_id: int, *rest: Any) -> None:
        with database.reading() as session:
            domains.append(runs.get_company(session, company_id).domain)
        examine(company_id, *rest)

    monkeypatch.setattr("flows.work.examine", noted)
    return domains


OWN: Final = {"id", "run_id", "company_id", "outcome_id", "carried_from", "status"}
"""Columns that name the run."""


def values(rows: Iterable[SQLModel], model: type[SQLModel]) -> list[dict[str, Any]]:
    return [{name: getattr(row, name) for name in model.model_fields if name not in OWN} for row in rows]


def told(run: str) -> list[dict[str, Any]]:
    """All that is stored of a run's companies, but for what names the run."""
    with database.reading() as session:
        return [
            company.model_dump(exclude=OWN)
            | {"documents": values(company_documents(session, company.id or 0), RunDocument)}
            | {"outcomes": values(scores.company_outcomes(session, company.id or 0), scores.CriterionOutcome)}
            | {
                "quotes": [
                    values(quotes, scores.Quote) for quotes in scores.outcome_quotes(session, company.id or 0).values()
                ]
            }
            for company in runs.run_companies(session, run)
        ]


def carried(run: str) -> list[str | None]:
    with database.reading() as session:
        return [company.carried_from for company in runs.run_companies(session, run)]


def test_an_unchanged_company_is_taken_over_with_all_that_is_stored_of_it(
    batch_file: Path, examined: list[str]
) -> None:
    first = batch(batch_file)
    assert sorted(examined) == ["alpha.example", "beta.example"]
    examined.clear()
    for _ in range(2):
        again = batch(batch_file)
        assert examined == []
        assert told(again) == told(first)
        assert carried(again) == [first, first]


@pytest.mark.parametrize(
    "change", quick_cases(["a document", "the facts", "the criterion", "the figures", "a new document"], quick=(0, 4))
)
def test_a_company_of_which_something_changed_is_examined_by_itself(
    batch_file: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    batch(batch_file)
    examined.clear()
    folder = batch_file.parent
    if change == "a document":
        (folder / "rooms" / "alpha" / "deck.txt").write_text("Half of the revenue is recurring.")
    elif change == "a new document":
        write_room(folder / "rooms" / "alpha", {"audited financial statements.txt": "Revenue grew."})
    elif change == "the facts":
        (folder / "facts" / "alpha.example.json").write_text('{"name": "Alpha", "founded_year": 2020}')
    elif change == "the criterion":
        criteria = folder / "criteria.yaml"
        criteria.write_text(criteria.read_text().replace("<= 2018", "<= 2011"))
    else:
        monkeypatch.setattr(work, "ledger_version", lambda: "another")
    again = batch(batch_file)
    both = change in {"the criterion", "the figures"}
    assert sorted(examined) == (["alpha.example", "beta.example"] if both else ["alpha.example"])
    assert all(
        outcome["ordinal"] == place for company in told(again) for place, outcome in enumerate(company["outcomes"])
    )


@pytest.mark.parametrize(("new", "again"), [(600.0, []), (-1.0, ["rooms/alpha"])])
def test_the_folder_of_a_company_that_changed_is_listed_once_if_that_was_just_now(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch, new: float, again: list[str]
) -> None:
    batch(batch_file)
    in_file("rooms/alpha/deck.txt", "Ninety", "Eighty")(batch_file.parent)
    listed: list[str] = []
    index = PLAIN.index_folder

    def noted(folder: str, company_id: int) -> int:
        listed.append(folder)
        return index(folder, company_id=company_id)

    monkeypatch.setattr(work, "PLAIN", PLAIN._replace(index_folder=noted))
    monkeypatch.setattr(work, "_NEW", new)
    assert carried(batch(batch_file))[0] is None
    assert listed == again


def test_a_folder_that_cannot_be_listed_fails_its_own_company_only(batch_file: Path, examined: list[str]) -> None:
    first = batch(batch_file)
    examined.clear()
    shutil.rmtree(batch_file.parent / "rooms" / "alpha")
    with pytest.raises(CompaniesFailed, match="Alpha") as failed:
        batch(batch_file)
    assert examined == ["alpha.example"]
    assert carried(failed.value.run_id) == [None, first]


def test_a_weight_that_changed_moves_the_totals_of_companies_that_are_taken_over(
    batch_file: Path, examined: list[str]
) -> None:
    first = batch(batch_file)
    examined.clear()
    criteria = batch_file.parent / "criteria.yaml"
    criteria.write_text(criteria.read_text().replace("weight: 2", "weight: 1"))
    again = batch(batch_file)
    assert examined == []
    assert [company["coverage"] for company in told(again)] != [company["coverage"] for company in told(first)]
    assert {outcome["weight"] for company in told(again) for outcome in company["outcomes"]} == {1, 3}


def test_companies_that_a_killed_run_has_begun_with_are_left_to_themselves(
    batch_file: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = batch(batch_file)
    with monkeypatch.context() as patch:
        patch.setattr(scores, "carry_outcomes", killed)
        with pytest.raises(KeyboardInterrupt):
            batch(batch_file)
    with database.reading() as session:
        interrupted = runs.find_run(session, "latest")
        assert interrupted is not None
        assert interrupted.status is RunStatus.RUNNING
        assert [company.room_id for company in runs.run_companies(session, interrupted.id)] == [None, None]
    examined.clear()
    assert batch(batch_file) == interrupted.id
    assert examined == []
    assert told(interrupted.id) == told(first)


def test_an_error_of_the_program_while_companies_are_taken_over_ends_no_run(
    batch_file: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = batch(batch_file)
    examined.clear()
    with monkeypatch.context() as patch:
        patch.setattr(work, "add_documents", lambda *_: 1 / 0)
        again = batch(batch_file)
    assert sorted(examined) == ["alpha.example", "beta.example"]
    assert told(again) == told(first)


def test_kinds_and_figures_of_a_room_are_made_once_for_its_scores_and_its_report(
    batch_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[str] = Counter()

    def noted(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def note(*args: Any, **kwargs: Any) -> Any:
            made[name] += 1
            return make(*args, **kwargs)

        return note

    monkeypatch.setattr("tasks.documents.kinds.room.room_kinds", noted("kinds", room_kinds))
    monkeypatch.setattr("tasks.figures.ledger.room_ledger", noted("figures", room_ledger))
    with (batch_file.parent / "criteria.yaml").open("a") as file:
        file.write('  - {id: growth, figure: revenue, rule: "> 1"}\n  - {id: lease, document: "lease"}\n')
    batch(batch_file, out=tmp_path / "out")
    assert made == {"kinds": 2, "figures": 2}  # two companies


def test_an_unchanged_company_is_neither_loaded_nor_scored(batch_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch(batch_file)
    monkeypatch.delattr(score, "Evidence")
    batch(batch_file)


@pytest.mark.parametrize("bound", ["_TAKEN_TOGETHER", "_DOCUMENTS_TOGETHER"])
def test_companies_are_taken_over_a_few_at_a_time(
    batch_file: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    first = batch(batch_file)
    examined.clear()
    monkeypatch.setattr(work, bound, 1)
    together: list[int] = []
    carry = scores.carry_outcomes

    def noted(session: Session, companies: Mapping[int, int], places: Mapping[str, tuple[int, float]]) -> None:
        together.append(len(companies))
        carry(session, companies, places)

    monkeypatch.setattr(scores, "carry_outcomes", noted)
    assert told(batch(batch_file)) == told(first)
    assert together == [1, 1]
    assert examined == []


def begin_again(batch_file: Path) -> work.CaughtUp | None:
    """What the command does before it starts Prefect."""
    return work.catch_up(read_batch(batch_file, None), batch_file.parent / "out", retry_failed=False)


def test_an_error_of_the_program_before_prefect_is_started_leaves_all_companies_to_the_flow(
    batch_file: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = batch(batch_file)
    examined.clear()
    with monkeypatch.context() as patch:
        patch.setattr(work, "add_documents", lambda *_: 1 / 0)
        begun = begin_again(batch_file)
    assert begun is not None
    assert (begun.left, begun.is_quick) == (2, False)
    with work.going_on(begun):
        assert batch(batch_file) == begun.run_id
    assert sorted(examined) == ["alpha.example", "beta.example"]
    assert told(begun.run_id) == told(first)


def test_what_was_found_before_prefect_is_started_is_not_looked_for_again(
    batch_file: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch(batch_file)
    examined.clear()
    in_file("rooms/alpha/deck.txt", "Ninety", "Eighty")(batch_file.parent)
    begun = begin_again(batch_file)
    assert begun is not None
    assert (begun.left, begun.is_quick) == (1, True)
    again = PLAIN._replace(index_folder=lambda *_, **__: pytest.fail("It is listed again."))
    monkeypatch.setattr(work, "PLAIN", again)
    monkeypatch.setattr(work, "_look_at", lambda *_: pytest.fail("It is looked at again."))
    with work.going_on(begun):
        assert batch(batch_file) == begun.run_id
    assert examined == ["alpha.example"]
    assert carried(begun.run_id)[0] is None


def test_a_few_companies_that_changed_are_examined_without_prefect(
    batch_file: Path, examined: list[str], tmp_path: Path
) -> None:
    batch(batch_file)
    examined.clear()
    in_file("rooms/alpha/deck.txt", "Ninety", "Eighty")(batch_file.parent)
    begun = begin_again(batch_file)
    assert begun is not None
    work.finish_here(begun, read_batch(batch_file), tmp_path / "out", retry_failed=False)
    assert examined == ["alpha.example"]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["run"]["id"] == begun.run_id
    subprocess.run([sys.executable, "-c", "import flows.work, sys; assert 'prefect' not in sys.modules"], check=True)


def test_much_that_is_left_to_do_is_shown_by_prefect(batch_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("flows.work.examine", killed)
        with pytest.raises(KeyboardInterrupt):
            batch(batch_file)
    assert begin_again(batch_file) is None  # no run has come to its report
    batch(batch_file)
    in_file("rooms/alpha/deck.txt", "Ninety", "Eighty")(batch_file.parent)
    monkeypatch.setattr(work, "_FEW_DOCUMENTS", 0)
    begun = begin_again(batch_file)
    assert begun is not None
    assert not begun.is_quick


def test_a_company_that_is_new_to_a_batch_is_shown_by_prefect(batch_file: Path) -> None:
    batch(batch_file)
    with batch_file.open("a") as file:
        file.write("  - {name: Gamma, domain: gamma.example, folder: rooms/alpha}\n")
    begun = begin_again(batch_file)
    assert begun is not None
    assert (begun.left, begun.is_quick) == (1, False)
