"""The JSON of a run, field by field as it is promised: what reads it elsewhere rests on these names and kinds."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from storage.database import writing
from storage.scores import ScoreStatus
from storage.texts import Outcome, SpanPages, StoredText, save_span_pages, save_text
from tasks.reports.files import render
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.rows import company, document, outcome, quote, write_company, write_run
from tests.tasks.reports.test_key_figures import with_figures

TEXT, NUMBER, COUNT, TRUTH, ANY = "string", "number", "integer", "boolean", "any"
NULL = "null"

_DOCUMENT: Final = {"document_id": [TEXT], "document_name": [TEXT]}
_PLACED: Final = {"document_id": [TEXT, NULL], "document_name": [TEXT, NULL]}
_BOX: Final = {"page": [COUNT], "left": [NUMBER], "top": [NUMBER], "right": [NUMBER], "bottom": [NUMBER]}
_CLAIM: Final = {
    "field": [TEXT], "value": [ANY], "source": [TEXT], "url": [TEXT, NULL], "retrieved_at": [TEXT],
    "as_of": [TEXT, NULL],
}  # fmt: skip
_FIGURE: Final = {
    "concept": [TEXT], "label": [TEXT], "value": [TEXT], "unit": [TEXT], "period": [TEXT], "entity": [TEXT, NULL],
    "basis": [TEXT], **_PLACED, "place": [TEXT],
}  # fmt: skip
_QUOTE: Final = {
    "text": [TEXT], "verified": [TRUTH], **_PLACED, "document_url": [TEXT, NULL], "place": [TEXT, NULL],
    "evidence_url": [TEXT, NULL], "boxes": [_BOX],
}  # fmt: skip
_CRITERION: Final = {
    "id": [TEXT], "title": [TEXT, NULL], "severity": [ANY], "kind": {"judged", "fact", "document", "figure"},
    "weight": [NUMBER], "score": [NUMBER, NULL],
    "status": {"scored", "unsupported", "missing", "unscored", "contested", "withheld"}, "reason": [TEXT],
    "quotes": [_QUOTE],
}  # fmt: skip
_COST: Final = {
    "calls": [COUNT], "unknown_calls": [COUNT], "input_tokens": [COUNT], "output_tokens": [COUNT],
    "usd": [NUMBER, NULL],
}  # fmt: skip
_COMPANY: Final = {
    "name": [TEXT], "domain": [TEXT], "folder_id": [TEXT, NULL], "total": [NUMBER, NULL], "coverage": [NUMBER, NULL],
    "rank": [COUNT, NULL], "criteria": [_CRITERION], "missing": [ANY],
    "conflicts": [{"field": [TEXT], "claims": [_CLAIM]}],
    "documents": [
        {
            **_DOCUMENT, "status": {"read", "unchanged", "empty", "failed", "unsupported"}, "characters": [COUNT],
            "warning": [TEXT, NULL],
        }
    ],
    "figures": [_FIGURE],
    "figure_conflicts": [
        {"concept": [TEXT], "period": [TEXT], "counted": _FIGURE, "others": [_FIGURE], "rule": [TEXT]}
    ],
    "changes": [ANY],
}  # fmt: skip
PROMISED: Final = {
    "run": {
        "id": [TEXT], "name": [TEXT], "started_at": [TEXT], "finished_at": [TEXT, NULL], "status": [TEXT],
        "cost": _COST, "answerer": [TEXT],
    },
    "companies": [_COMPANY],
}  # fmt: skip
"""Each field's kind: a list of the kinds of value that it may have, or of one shape for a list of that; a shape for an
object; a set for the only words that it may have."""


def departures(schema: dict[str, Any], promised: Any, whole: dict[str, Any], at: str) -> Iterator[str]:
    """Where a JSON schema is not what is promised."""
    schema = _resolved(schema, whole)
    if isinstance(promised, set):
        if set(schema.get("enum", ())) != promised:
            yield f"{at}: {schema.get('enum')}"
    elif isinstance(promised, dict):
        for name, kind in promised.items():
            if name not in schema.get("properties", {}):
                yield f"{at}.{name}: not there"
            else:
                yield from departures(schema["properties"][name], kind, whole, f"{at}.{name}")
    elif isinstance(promised[0], dict):
        if schema.get("type") != "array":
            yield f"{at}: no list"
        else:
            yield from departures(schema["items"], promised[0], whole, at)
    elif promised != [ANY]:
        kinds = {_resolved(kind, whole).get("type") for kind in schema.get("anyOf", [schema])}
        if kinds != set(promised):
            yield f"{at}: {kinds}"


def _resolved(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return whole["$defs"][reference.rpartition("/")[2]] if reference else schema


def wrong_values(value: Any, promised: Any, at: str) -> Iterator[str]:
    """Where a value is not what is promised."""
    if isinstance(promised, set):
        if value not in promised:
            yield f"{at}: {value!r}"
    elif isinstance(promised, dict):
        for name, kind in promised.items():
            if name not in value:
                yield f"{at}.{name}: not there"
            else:
                yield from wrong_values(value[name], kind, f"{at}.{name}")
    elif isinstance(promised[0], dict):
        for position, item in enumerate(value):
            yield from wrong_values(item, promised[0], f"{at}[{position}]")
    elif promised != [ANY] and _kind(value) not in {*promised, *([COUNT] if NUMBER in promised else [])}:
        yield f"{at}: {value!r}"


def _kind(value: Any) -> str:
    kinds = {type(None): NULL, bool: TRUTH, int: COUNT, float: NUMBER, str: TEXT}
    return kinds.get(type(value), "object")


def test_the_shape_of_a_report_is_the_one_that_is_promised() -> None:
    schema = Report.model_json_schema()
    assert list(departures(schema, PROMISED, schema, "report")) == []


def test_a_promise_that_is_not_kept_is_told() -> None:
    schema = Report.model_json_schema()
    other = {"run": {"id": [NUMBER], "colour": [TEXT], "status": {"done"}}, "companies": [{"name": [{"of": [TEXT]}]}]}
    assert len(list(departures(schema, other, schema, "report"))) == 4
    assert len(list(wrong_values({"run": {"id": "r", "status": "finished"}}, {"run": other["run"]}, "report"))) == 3


@pytest.mark.parametrize("make", [report_with_everything, lambda: with_figures()[0]], ids=["everything", "figures"])
def test_a_report_gives_what_is_promised(make: Any) -> None:
    report = json.loads(render(make(), "json"))
    assert list(wrong_values(report, PROMISED, "report")) == []
    assert report["run"]["started_at"].endswith("Z")
    assert report["run"]["finished_at"].endswith("Z")


def test_figures_are_decimal_texts_in_base_units_with_days() -> None:
    report = json.loads(render(with_figures()[0], "json"))
    figures = [figure for one in report["companies"] for figure in one["figures"]]
    assert figures
    for figure in figures:
        assert re.fullmatch(r"-?\d+(\.\d+)?", figure["value"])
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d/)?\d{4}-\d\d-\d\d", figure["period"])
        assert figure["basis"] in {"audited", "reported", "management", "budget", "forecast", "pro_forma", "adjusted"}


def test_boxes_count_pages_from_one_and_points_from_the_upper_left_corner() -> None:
    words = "Subscriptions made up 91 % of revenue."
    with writing() as session:
        text = save_text(session, StoredText(content_hash="h1", reader="pdf-1", outcome=Outcome.READ, text=words))
        assert text.id is not None
        boxes = [{"page": 1, "width": 612.0, "height": 792.0, "boxes": [[72.0, 80.5, 300.25, 92.0]]}]
        save_span_pages(session, [SpanPages(text_id=text.id, start=0, end=len(words), pages=boxes)])
        text_id = text.id
    write_run("r1", [company("Alpha", total=0.8, coverage=0.5, rank=1)])
    write_company(
        "r1",
        "alpha.example",
        documents=[document("accounts", text_id=text_id)],
        outcomes=[
            (outcome("recurring", 4, ScoreStatus.SCORED), [quote(words, text_id=text_id, start=0, end=len(words))])
        ],
    )
    report = json.loads(render(build("r1"), "json"))
    (quoted,) = report["companies"][0]["criteria"][0]["quotes"]
    assert quoted["boxes"] == [{"page": 1, "left": 72.0, "top": 80.5, "right": 300.25, "bottom": 92.0}]
    assert quoted["evidence_url"].startswith("evidence/")
