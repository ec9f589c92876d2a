"""The criteria file: read, with each mistake named by its line and field."""

from pathlib import Path
from typing import Any, get_args
from unicodedata import normalize

from pydantic import BaseModel, ConfigDict

from tasks.errors import BadRequest
from tasks.figures.conflicts import RULE, Step
from tasks.figures.expressions import read_expression
from tasks.scoring import rules
from tasks.scoring.criteria import KINDS, LEAST, MOST, Criteria, Criterion, FactRule, FigureRule, Isolate
from tasks.scoring.figure_rules import parse_condition
from tasks.user_file import UserFile, nearest

_MOST_RUNS = 9  # of one judgement; more would cost more than they show
_KNOWN = list(dict.fromkeys(name for kind in KINDS.values() for name in kind.model_fields))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scale: Any = None
    runs: Any = None
    figure_rule: Any = None
    isolate: Any = None
    criteria: list[Any]


def read_criteria(path: Path) -> Criteria:
    """Read a criteria file.

    Raises:
        BadRequest: the file has mistakes; the message gives the line and field of each, and what is allowed.
    """
    file = UserFile(path, "criteria file")
    content = file.content if isinstance(file.content, dict) else {}
    file.fit(_File, file.content)
    scale = _scale(file, content.get("scale", [0, 5]))
    criteria: dict[str, Criterion] = {}
    lines: dict[str, int] = {}
    entries = content.get("criteria")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        at = ("criteria", index)
        criterion = _read_one(file, at, entry, scale)
        # In one form: two ids that look the same are the same.
        name = normalize("NFC", str(entry["id"]).strip()) if isinstance(entry, dict) and "id" in entry else None
        if name in lines:
            file.mistake((*at, "id"), f"{name!r} is already the id of the criterion in line {lines[name]}")
        elif name is not None:
            lines[name] = file.line((*at, "id"))
            if criterion is not None:
                criteria[name] = criterion
    if entries == []:
        file.mistake(
            ("criteria",), "it is empty: list at least one criterion, with an id and ask, fact, document or figure"
        )
    runs = _runs(file, content.get("runs", 1))
    rule = _figure_rule(file, content.get("figure_rule", list(RULE)))
    isolate = content.get("isolate", "high")
    # In YAML 1.1 an `off` without quotation marks is a boolean.
    isolate = "off" if isolate is False else isolate
    if isolate not in get_args(Isolate):
        file.mistake(
            ("isolate",), f"must be {' or '.join(get_args(Isolate))}: for which criteria documents are read alone"
        )
    file.mistakes.check()
    return Criteria(scale=scale, criteria=list(criteria.values()), runs=runs, figure_rule=rule, isolate=isolate)


def _scale(file: UserFile, written: Any) -> tuple[float, float]:
    ends = [end for end in written if type(end) in {int, float} and abs(end) <= MOST] if type(written) is list else []
    if len(ends) != 2 or len(written) != 2 or ends[1] - ends[0] < LEAST:
        file.mistake(("scale",), "must be two numbers, the lowest score and the highest one, such as [0, 5]")
        return 0.0, 0.0
    return float(ends[0]), float(ends[1])


def _figure_rule(file: UserFile, written: Any) -> tuple[Step, ...]:
    steps = [step for step in RULE if isinstance(written, list) and step in written]
    if not steps or len(steps) != len(written):
        file.mistake(
            ("figure_rule",), f"must list some or all of {', '.join(RULE)}, what decides first before the rest"
        )
        return RULE
    return tuple(sorted(steps, key=written.index))


def _runs(file: UserFile, written: Any) -> int:
    if type(written) is not int or not 1 <= written <= _MOST_RUNS:
        file.mistake(("runs",), f"must be a whole number from 1 to {_MOST_RUNS}: how many times each judgement is made")
        return 1
    return written


def _read_one(file: UserFile, at: tuple[str | int, ...], written: Any, scale: tuple[float, float]) -> Criterion | None:
    """One criterion of the file; None when it has mistakes, which are added to those of the file."""
    if not isinstance(written, dict):
        file.mistake(at, "must be a mapping of fields, such as {id: audited, document: audited accounts}")
        return None
    kinds = [key for key in KINDS if key in written]
    if len(kinds) != 1:
        present = " and ".join(kinds) if kinds else "none of them"
        file.mistake(
            at, f"must have exactly one of ask (judged), fact or figure (with a rule), or document; it has {present}"
        )
        for key in [key for key in written if key not in _KNOWN]:
            file.mistake((*at, key), f"there is no such field{nearest(str(key), _KNOWN)}")
        return None
    criterion = file.fit(KINDS[kinds[0]], written, at)
    if isinstance(criterion, FactRule):
        _check_rules(file, at, criterion, scale)
    elif isinstance(criterion, FigureRule):
        _check_figure_rules(file, at, criterion, scale)
    return criterion


_Place = tuple[str | int, ...]


def _rules(
    file: UserFile, at: _Place, criterion: FactRule | FigureRule, scale: tuple[float, float]
) -> dict[_Place, str]:
    """The rules of a criterion by their places; scores of bands that are not on the scale are noted."""
    places: dict[_Place, str] = {(*at, "rule"): criterion.rule} if criterion.rule else {}
    for score, rule in (criterion.bands or {}).items():
        place = (*at, "bands", f"{score:g}")
        places[place] = rule
        if not scale[0] <= score <= scale[1]:
            file.mistake(place, f"must be a score of the scale, {scale[0]:g} to {scale[1]:g}")
    return places


def _check_figure_rules(file: UserFile, at: _Place, criterion: FigureRule, scale: tuple[float, float]) -> None:
    places = _rules(file, at, criterion, scale)
    try:
        read_expression(criterion.figure)
    except ValueError as error:
        file.mistake((*at, "figure"), str(error))
        return
    asked = set()
    for place, rule in places.items():
        try:
            condition = parse_condition(criterion.figure, rule)
        except ValueError as error:
            file.mistake(place, str(error))
            continue
        asked.add((condition.expression, condition.unit))
    if len({expression for expression, _ in asked}) > 1:
        file.mistake((*at, "bands"), "must ask for the same in each band: all of them, or none, with growth")
    elif len({unit for _, unit in asked if unit}) > 1:
        file.mistake((*at, "bands"), "must be in one unit")


def _check_rules(file: UserFile, at: tuple[str | int, ...], criterion: FactRule, scale: tuple[float, float]) -> None:
    for place, rule in _rules(file, at, criterion, scale).items():
        try:
            rules.parse(criterion.fact, rule)
        except BadRequest as error:
            file.mistake((*at, "fact"), error.message)
            return
        except ValueError as error:
            file.mistake(place, str(error))
