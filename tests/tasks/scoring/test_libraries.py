"""Libraries of criteria: each is tried on a room that meets it and on one that does not."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tasks.documents.kinds.document import document_kind, parse_asked_kind
from tasks.documents.kinds.signs import read_signs
from tasks.errors import BadRequest
from tasks.ranking import WordIndex
from tasks.scoring import rules
from tasks.scoring.criteria import STAGES, Criterion, library_names, library_purpose, read_criteria, read_library
from tasks.scoring.rules import parse_condition, score_bands
from tests.cases import cases

SCALE = (0.0, 5.0)
FIGURES = tomllib.loads((Path(__file__).parent / "library_rooms.toml").read_text(encoding="utf-8"))


@cache
def criteria() -> list[Criterion]:
    path = Path(__file__).parent / "all_libraries.yaml"
    return read_criteria(path).criteria


def of_kind(kind: str) -> list[Any]:
    return [one for one in criteria() if one.kind == kind]


def test_ids_differ_and_half_need_no_model() -> None:
    ids = [one.id for one in criteria()]
    assert len(ids) == len(set(ids)) >= 130
    assert sum(one.kind != "judged" for one in criteria()) >= len(ids) / 2
    assert all(one.title and one.severity for one in criteria())
    assert all(library_purpose(name) for name in library_names())


@cases("criterion", of_kind("document"))
def test_document_criteria(criterion: Any) -> None:
    """The document's kind is one of the catalogue, or found by its words, and other documents are not it."""
    kind, _ = parse_asked_kind(criterion.document)
    text = f"{criterion.document.upper()}\nof Brightwell Ltd.\n"
    met = document_kind(f"{criterion.document}.pdf", "", read_signs(text, []))
    unmet = document_kind("Canteen menu.pdf", "", read_signs("This week: soup and pasta.", []))
    assert kind is None or met.holds(kind.id) is not None
    assert kind is None or unmet.holds(kind.id) is None


@cases("criterion", of_kind("figure"))
def test_figure_criteria(criterion: Any) -> None:
    """A value that meets the best band has the best score, one that does not the worst."""
    written = criterion.bands or {SCALE[1]: criterion.rule}
    bands = {score: parse_condition(criterion.figure, rule) for score, rule in written.items()}
    best = max(bands)
    edge = bands[best].value
    step = 1 if bands[best].sign in {">", ">="} else -1
    assert score_bands(bands, edge + step, SCALE[0])[0] == best
    assert score_bands(bands, edge - 1000 * step, SCALE[0])[0] < best


@cases("criterion", of_kind("fact"))
def test_fact_criteria(criterion: Any) -> None:
    met, unmet = {
        "founded_year": (2010, 2026),
        "company_size.0": (50, 2),
        "extra.operating_status": ("Active", "Closed"),
    }[criterion.fact]
    rule = rules.parse(criterion.fact, criterion.rule)
    assert rule.holds(met)
    assert not rule.holds(unmet)


def test_judged_criteria_find_the_passages_that_speak_to_them() -> None:
    """Among the passages of all rooms those that speak to a criterion come up for it."""
    asked = {one.id: one for one in criteria() if one.kind == "judged"}
    passages = [FIGURES[name][which] for name in FIGURES for which in ("meets", "fails")]
    index = WordIndex(passages)
    for name, room in FIGURES.items():
        places = {position for position, _ in index.rank(asked[name].searched, 10)}
        assert places & {passages.index(room["meets"]), passages.index(room["fails"])}, name


def test_scores_go_with_the_scale_and_stages_choose() -> None:
    entry = next(entry for entry in read_library("commercial", (1, 11)) if entry["id"] == "commercial_churn")
    assert set(entry["bands"]) == {11.0, 7.0, 1.0}
    guide = next(entry for entry in read_library("ip", (0, 10)) if entry["id"] == "ip_ownership")["guide"]
    assert guide.startswith("10: the company owns all")
    counts = {stage: len(read_library("environment", SCALE, stage)) for stage in STAGES}
    assert counts["venture"] < counts["buyout"]


@cases(
    ("written", "message"),
    [
        ("include: [comercial]\n", "line 1, include.0: there is no library 'comercial'; did you mean commercial?"),
        ("include: x\n", "line 1, include: must be a list of libraries"),
        ("stage: seed\ninclude: [ip]\n", "line 1, stage: must be one of venture, growth, buyout, vendor, listed"),
        ("scale: [0, 5]\n", "criteria: it is missing: list criteria, or include libraries of criteria"),
        (
            "table: contrcts\ninclude: [ip]\n",
            "line 1, table: must be one of contracts, leases, employment, or a column file",
        ),
    ],
)
def test_mistakes(tmp_path: Path, written: str, message: str) -> None:
    (tmp_path / "criteria.yaml").write_text(written)
    with pytest.raises(BadRequest) as error:
        read_criteria(tmp_path / "criteria.yaml")
    assert message in error.value.message


def test_a_files_own_criterion_takes_the_place_of_a_librarys(tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text("include: [ip]\ncriteria:\n  - {id: ip_patents, document: patent list}\n")
    read = read_criteria(tmp_path / "criteria.yaml").criteria
    assert read[0].label == "In the data room: patent list"
    assert [one.id for one in read].count("ip_patents") == 1
