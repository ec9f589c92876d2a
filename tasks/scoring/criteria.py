"""Criteria: what a team asks about every company, in its own file or from the libraries. Four kinds share one scale.

Judged           `ask`: a model judges the answer and proves it with quotes
FactRule         `fact` and `rule` or `bands`: a field of the company profile
DocumentCheck    `document`: a document that should be in the data room
FigureRule       `figure` and `rule` or `bands`: a figure of the room, its growth, or two figures held together

A library's entry has the form of a criteria file with a scale from 0 to 5, and is put on the scale of the user's file.
It has two additions: `guide` explains some scores, and `stages` names the deals that the criterion is meant for (all
of them without it).
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from tasks.errors import BadRequest
from tasks.figures.conflicts import RULE, Step
from tasks.figures.derived import LATEST, read_expression, read_period
from tasks.language.words import tokens
from tasks.scoring import rules
from tasks.scoring.rules import parse_condition
from tasks.table.columns import ColumnSet, read_columns, set_names
from tasks.user_file import Line, UserFile, nearest

STAGES: Final = ("venture", "growth", "buyout", "vendor", "listed")
_FOLDER: Final = Path(__file__).parent / "libraries"
_HIGHEST: Final = 5.0


@cache
def library_names() -> tuple[str, ...]:
    """The names of the libraries in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


@cache
def _read(name: str) -> UserFile:
    return UserFile(_FOLDER / f"{name}.yaml", "library")


def library_purpose(name: str) -> str:
    """What a library is about: the comment at its top."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ").rstrip(".")


def read_library(name: str, scale: tuple[float, float], stage: str | None = None) -> list[dict[str, Any]]:
    """The entries of a library in the form of a criteria file with this scale; with a stage, only those for it."""
    entries = _read(name).content
    return [_on_scale(entry, scale) for entry in entries if stage is None or stage in entry.get("stages", STAGES)]


def _on_scale(entry: Mapping[str, Any], scale: tuple[float, float]) -> dict[str, Any]:
    """An entry with its scores on another scale, and its guide in words."""
    low, high = scale

    def score(written: str | float) -> float:
        return low + float(written) / _HIGHEST * (high - low)

    moved = {name: value for name, value in entry.items() if name != "stages"}
    if "bands" in moved:
        moved["bands"] = {score(key): rule for key, rule in moved["bands"].items()}
    if "guide" in moved:
        moved["guide"] = "; ".join(f"{score(key):g}: {what}" for key, what in moved["guide"].items())
    return moved


MOST = 1_000_000.0  # of a weight and of the scale's ends: their products stay exact
LEAST = 0.000_001  # of a weight and of the scale's width, for the same reason
_LONGEST_NAME = 64  # characters
_NUMBERS = re.compile(r"\d[\d.,' ]*%?")


def _searchable(text: str) -> str:
    if not tokens(text):
        raise ValueError("contains no word to search for")
    return text


def _short(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"must have at most {_LONGEST_NAME} characters")
    return name


def _not_too_small(weight: float) -> float:
    if weight < LEAST:
        raise ValueError(f"must be at least {LEAST:f}")
    return weight


Name = Annotated[Line, AfterValidator(_short)]
Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(_searchable)
]


def _read_keys(written: Any) -> Any:
    """The mapping with its scores as numbers, which are texts in JSON."""
    if not isinstance(written, dict):
        raise ValueError("must give each score its rule, such as {5: '>= 80 %', 3: '>= 60 %'}")  # noqa: TRY004 - pydantic reports it so
    return {_number(key): value for key, value in written.items()}


def _number(key: Any) -> Any:
    try:
        return float(key)
    except (TypeError, ValueError):
        return key


Isolate = Literal["all", "high", "off"]
"""For which judged criteria each document is read by itself: all, those of high severity (and those in whose passages
words give orders to a model), or none."""
Severity = Literal["high", "medium", "low"]
SEVERITIES: Final[tuple[Severity, ...]] = ("high", "medium", "low")


def _severity(written: Any) -> Any:
    """A severity, or the highest score for each; for a graver one it is lower."""
    if written in SEVERITIES:
        return written
    scores = list(written.values()) if isinstance(written, dict) and {*written} <= {*SEVERITIES} else []
    ends = [written[severity] for severity in SEVERITIES if severity in written] if scores else []
    if not ends or any(type(end) not in {int, float} for end in ends) or ends != sorted(set(ends)):
        raise ValueError(
            "must be high, medium or low, or the highest score of each, the graver the lower: {high: 1, medium: 2}"
        )
    return written


RuleText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
SHOWN_ONLY = frozenset({"title", "severity", "recommend"})
"""Fields that readers see and that no score is made of: `title` is the criterion's name, `severity` how grave it is to
fall short of it (which `isolate` looks at), `recommend` what to do then."""
ADDED_UP = frozenset({"weight", "must", "missing"})
"""Fields that change no outcome, but what the outcomes add up to."""


class _CriterionFields(BaseModel):
    """The fields of every criterion. `must`: a company that falls short of it is left out of the ranking. `missing:
    open`: if nothing is said, the weight stays open instead of earning nothing.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Name
    weight: Annotated[float, AfterValidator(_not_too_small)] = Field(1, gt=0, le=MOST, allow_inf_nan=False)
    title: Name | None = None
    severity: Annotated[Severity | dict[Severity, float], BeforeValidator(_severity)] | None = None
    recommend: RuleText | None = None
    must: bool | None = None
    missing: Literal["open"] | None = None


class _RuledFields(_CriterionFields):
    """A rule or, as `bands`, a rule for each score."""

    examples: ClassVar[tuple[str, str]]

    rule: RuleText | None = None
    bands: Annotated[dict[float, RuleText], BeforeValidator(_read_keys), Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if (self.rule is None) == (self.bands is None):
            best, good = self.examples
            bands = f"{{5: '{best}', 3: '{good}'}}"
            raise ValueError(f"needs a rule, such as '{good}', or bands, such as {bands}, not both")
        return self


class Judged(_CriterionFields):
    """A question whose answer is judged on the scale; `guide` says what a score means."""

    kind: ClassVar[Literal["judged"]] = "judged"

    ask: Words
    guide: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""

    @property
    def label(self) -> str:
        return self.ask

    @property
    def searched(self) -> str:
        """The words to search passages by, without the guide's scale marks and bounds."""
        return f"{self.ask} {_NUMBERS.sub(' ', self.guide)}".strip()


class FactRule(_RuledFields):
    """A rule on a field of the company profile: if met, it scores the top of the scale, otherwise the bottom.

    With `bands` instead, each score has a rule; the highest score whose rule is met counts, otherwise the bottom of the
    scale.
    """

    kind: ClassVar[Literal["fact"]] = "fact"
    examples = (">= 50", ">= 20")

    fact: Name

    @property
    def label(self) -> str:
        return f"{self.fact} {rule_in_words(self.rule, self.bands)}"


def _period(written: Any) -> Any:
    """A period as text; a year is a number in the file."""
    return str(written) if type(written) is int else written


class FigureRule(_RuledFields):
    """A rule on a figure of the room: if met, it scores the top of the scale, otherwise the bottom.

    With `bands` instead, the first rule that holds counts, starting with the best score; between two of them the score
    is proportional. `period` is `latest`, a year, a day, or the first and last day.
    """

    kind: ClassVar[Literal["figure"]] = "figure"
    examples = (">= 40 %", ">= 20 %")

    figure: Name
    period: Annotated[str, BeforeValidator(_period), AfterValidator(read_period)] = LATEST

    @property
    def label(self) -> str:
        return figure_in_words(self.figure, self.rule, self.bands, self.period)


class DocumentCheck(_CriterionFields):
    """A document that should be in the data room."""

    kind: ClassVar[Literal["document"]] = "document"

    document: Words

    @property
    def label(self) -> str:
        return f"In the data room: {self.document}"


def isolates(isolate: Isolate, criterion: Judged, *, have_orders: bool = False) -> bool:
    """Whether each document is read by itself for a criterion; `have_orders`: its passages hold orders to a model."""
    is_grave = criterion.severity is not None and "high" in criterion.severity
    return isolate == "all" or (isolate == "high" and (is_grave or have_orders))


def rule_in_words(rule: str | None, bands: Mapping[float, str] | None) -> str:
    """`>= 50`, or for bands `>= 50: 5; >= 20: 3`, best first."""
    if bands is None:
        return rule or ""
    return "; ".join(f"{bands[score]}: {score:g}" for score in sorted(bands, reverse=True))


def figure_in_words(figure: str, rule: str | None, bands: Mapping[float, str] | None, period: str) -> str:
    """`revenue: growth >= 20 %`, with the period unless it is the latest."""
    return f"{figure}: {rule_in_words(rule, bands)}" + ("" if period == LATEST else f" ({period})")


Criterion = Judged | FactRule | DocumentCheck | FigureRule
KINDS: dict[str, type[Judged | FactRule | DocumentCheck | FigureRule]] = {
    "ask": Judged,
    "fact": FactRule,
    "document": DocumentCheck,
    "figure": FigureRule,
}


_OPTIONAL: Final = SHOWN_ONLY | {"rule", "bands", "must", "missing"}
"""Fields that a run stores only where the file has them: what older runs stored stays the same."""


def load_figure_rule(stored: Mapping[str, Any]) -> tuple[Step, ...]:
    """The rule that decides, in a run with these stored criteria, which of several contradicting figures counts."""
    return tuple(stored.get("figure_rule", RULE))


class Criteria(BaseModel):
    """A criteria file: the scale (lowest, highest) and the criteria in the user's order.

    `runs` is how many times each judged criterion is judged; the median score counts. `figure_rule` decides which of
    several contradicting figures counts, first step first. `isolate` says for which judged criteria each document is
    read by itself. `table` has the columns of a table of documents and questions.
    """

    model_config = ConfigDict(frozen=True)

    scale: tuple[float, float]
    criteria: list[Criterion]
    runs: int = 1
    figure_rule: tuple[Step, ...] = RULE
    isolate: Isolate = "high"
    table: ColumnSet | None = None

    def as_json(self) -> dict[str, Any]:
        """The form that a run stores: the fields of the file, and each criterion's kind and label."""
        rows = [
            {
                name: value
                for name, value in criterion.model_dump().items()
                if name not in _OPTIONAL or value is not None
            }
            | {"kind": criterion.kind, "label": criterion.label}
            for criterion in self.criteria
        ]
        stored: dict[str, Any] = {"scale": list(self.scale), "criteria": rows}
        if self.runs != 1:  # older runs are stored without `runs`, `figure_rule` and `isolate`
            stored["runs"] = self.runs
        if self.figure_rule != RULE:
            stored["figure_rule"] = list(self.figure_rule)
        if self.isolate != "high":
            stored["isolate"] = self.isolate
        if self.table is not None:
            stored["table"] = self.table.model_dump()
        return stored

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Criteria":
        """The criteria from what `as_json` returned; their fingerprint is the same."""
        rows = [
            {
                key: value
                for key, value in row.items()
                # A weight that the file leaves out is stored as the integer 1, one that it has with a decimal point.
                if key not in {"kind", "label"} and (key, type(value)) != ("weight", int)
            }
            for row in stored["criteria"]
        ]
        return cls(
            scale=tuple(stored["scale"]),
            criteria=rows,
            runs=stored.get("runs", 1),
            figure_rule=load_figure_rule(stored),
            isolate=stored.get("isolate", "high"),
            table=stored.get("table"),
        )

    def fingerprint(self) -> str:
        """A hash of the criteria, in hex."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


_MOST_RUNS = 9  # of one judgement; more would cost more than they show
_KNOWN = list(dict.fromkeys(name for kind in KINDS.values() for name in kind.model_fields))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scale: Any = None
    runs: Any = None
    figure_rule: Any = None
    isolate: Any = None
    include: Any = None
    stage: Any = None
    table: Any = None
    criteria: list[Any] | None = None


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
    if isinstance(file.content, dict) and content.get("criteria") is None and "include" not in content:
        file.mistake(("criteria",), "it is missing: list criteria, or include libraries of criteria")
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
    if entries == [] and "include" not in content:
        file.mistake(
            ("criteria",), "it is empty: list at least one criterion, with an id and ask, fact, document or figure"
        )
    for criterion in _included(file, content, scale):
        criteria.setdefault(criterion.id, criterion)  # the file's own of that id counts
    runs = _runs(file, content.get("runs", 1))
    rule = _figure_rule(file, content.get("figure_rule", list(RULE)))
    isolate = content.get("isolate", "high")
    # In YAML 1.1 an `off` without quotation marks is a boolean.
    isolate = "off" if isolate is False else isolate
    if isolate not in get_args(Isolate):
        file.mistake(
            ("isolate",), f"must be {' or '.join(get_args(Isolate))}: for which criteria documents are read alone"
        )
    table = _table(file, content["table"]) if "table" in content else None
    file.mistakes.check()
    return Criteria(
        scale=scale, criteria=list(criteria.values()), runs=runs, figure_rule=rule, isolate=isolate, table=table
    )


def _table(file: UserFile, written: Any) -> ColumnSet | None:
    """The columns that a file names; the mistakes of a column file are raised with their own places."""
    if not isinstance(written, str) or not (written in set_names() or (file.path.parent / written).is_file()):
        known = ", ".join(set_names())
        file.mistake(("table",), f"must be one of {known}, or a column file, whose path counts from this file")
        return None
    return read_columns(written, file.path.parent)


def _included(file: UserFile, content: Mapping[str, Any], scale: tuple[float, float]) -> list[Criterion]:
    """The criteria of the libraries that a file includes; if it names a stage, only those for that stage."""
    names, stage = content.get("include", []), content.get("stage")
    if stage is not None and stage not in STAGES:
        file.mistake(("stage",), f"must be one of {', '.join(STAGES)}: the deals that included criteria are meant for")
    if not isinstance(names, list) or ("include" in content and not names):
        file.mistake(
            ("include",), f"must be a list of libraries such as [commercial, ip]{nearest('', library_names())}"
        )
        return []
    included: list[Criterion] = []
    for place, name in enumerate(names):
        if name not in library_names():
            file.mistake(("include", place), f"there is no library {name!r}{nearest(str(name), library_names())}")
        elif stage is None or stage in STAGES:
            entries = read_library(name, scale, stage)
            included += [KINDS[next(key for key in KINDS if key in entry)].model_validate(entry) for entry in entries]
    return included


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
    """One criterion of the file; None if it has mistakes, which are added to those of the file."""
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
    if isinstance(criterion, FactRule | FigureRule):
        _check_rules(file, at, criterion, scale)
    return criterion


_Place = tuple[str | int, ...]


def _check_rules(file: UserFile, at: _Place, criterion: FactRule | FigureRule, scale: tuple[float, float]) -> None:
    """Record the mistakes in the rules of a criterion, and scores of bands that are not on the scale."""
    places: dict[_Place, str] = {(*at, "rule"): criterion.rule} if criterion.rule else {}
    for score, rule in (criterion.bands or {}).items():
        place = (*at, "bands", f"{score:g}")
        places[place] = rule
        if not scale[0] <= score <= scale[1]:
            file.mistake(place, f"must be a score of the scale, {scale[0]:g} to {scale[1]:g}")
    if isinstance(criterion, FigureRule):
        _check_figure_rules(file, at, criterion.figure, places)
        return
    for place, rule in places.items():
        try:
            rules.parse(criterion.fact, rule)
        except BadRequest as error:
            file.mistake((*at, "fact"), error.message)
            return
        except ValueError as error:
            file.mistake(place, str(error))


def _check_figure_rules(file: UserFile, at: _Place, figure: str, places: Mapping[_Place, str]) -> None:
    try:
        read_expression(figure)
    except ValueError as error:
        file.mistake((*at, "figure"), str(error))
        return
    asked = set()
    for place, rule in places.items():
        try:
            condition = parse_condition(figure, rule)
        except ValueError as error:
            file.mistake(place, str(error))
            continue
        asked.add((condition.expression, condition.unit))
    if len({expression for expression, _ in asked}) > 1:
        file.mistake((*at, "bands"), "must ask for the same in each band: all of them, or none, with growth")
    elif len({unit for _, unit in asked if unit}) > 1:
        file.mistake((*at, "bands"), "must be in one unit")
