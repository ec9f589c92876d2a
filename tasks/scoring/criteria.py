"""Criteria: what a team asks about every company. The criteria file and its three kinds, which share one scale.

Judged           `ask`: a model judges the answer and proves it with quotes
FactRule         `fact` and `rule`: a field of the company profile
DocumentCheck    `document`: a document that should be in the data room
read_criteria    reads a criteria file and reports its mistakes
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from tasks.errors import BadRequest
from tasks.scoring import rules
from tasks.text.tokens import tokens
from tasks.user_file import Line, UserFile, nearest

_MOST_RUNS = 9  # of one judgement; more would cost more than they show
_MOST = 1_000_000.0  # of a weight and of the scale's ends: their products stay exact
_LEAST = 0.000_001  # of a weight and of the scale's width, for the same reason
_LONGEST_NAME = 64  # characters


def _searchable(text: str) -> str:
    if not tokens(text):
        raise ValueError("contains no word to search for")
    return text


def _short(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"must have at most {_LONGEST_NAME} characters")
    return name


def _not_too_small(weight: float) -> float:
    if weight < _LEAST:
        raise ValueError(f"must be at least {_LEAST:f}")
    return weight


Name = Annotated[Line, AfterValidator(_short)]
Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(_searchable)
]


Severity = Literal["high", "medium", "low"]
SHOWN_ONLY = frozenset({"title", "severity", "recommend"})
"""Fields that readers see and that change no score: `title` is the criterion's name, `severity` how grave it is to fall
short of it, `recommend` what to do then."""


class _CriterionFields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Name
    weight: Annotated[float, AfterValidator(_not_too_small)] = Field(1, gt=0, le=_MOST, allow_inf_nan=False)
    title: Name | None = None
    severity: Severity | None = None
    recommend: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)] | None = None


class Judged(_CriterionFields):
    """A question whose answer is judged on the scale; `guide` says what a score means."""

    ask: Words
    guide: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""

    @property
    def kind(self) -> Literal["judged"]:
        return "judged"

    @property
    def label(self) -> str:
        return self.ask


class FactRule(_CriterionFields):
    """A rule on a field of the company profile: met is the top of the scale, not met its bottom."""

    fact: Name
    rule: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]

    @property
    def kind(self) -> Literal["fact"]:
        return "fact"

    @property
    def label(self) -> str:
        return f"{self.fact} {self.rule}"


class DocumentCheck(_CriterionFields):
    """A document that should be in the data room."""

    document: Words

    @property
    def kind(self) -> Literal["document"]:
        return "document"

    @property
    def label(self) -> str:
        return f"In the data room: {self.document}"


Criterion = Judged | FactRule | DocumentCheck
_KINDS: dict[str, type[Judged | FactRule | DocumentCheck]] = {
    "ask": Judged,
    "fact": FactRule,
    "document": DocumentCheck,
}
_KNOWN = list(dict.fromkeys(name for kind in _KINDS.values() for name in kind.model_fields))


def _written(criterion: Criterion) -> dict[str, Any]:
    """The fields of a criterion; those for readers only where the file has them, so that older runs stay the same."""
    fields = criterion.model_dump()
    return {name: value for name, value in fields.items() if name not in SHOWN_ONLY or value is not None}


class Criteria(BaseModel):
    """A criteria file: the scale (lowest, highest) and the criteria in the user's order.

    `runs` is how many times each judged criterion is judged; the median score counts.
    """

    model_config = ConfigDict(frozen=True)

    scale: tuple[float, float]
    criteria: list[Criterion]
    runs: int = 1

    def as_json(self) -> dict[str, Any]:
        """The form that a run stores: the fields of the file, and each criterion's kind and label."""
        rows = [
            {
                name: value
                for name, value in criterion.model_dump().items()
                if name not in SHOWN_ONLY or value is not None
            }
            | {"kind": criterion.kind, "label": criterion.label}
            for criterion in self.criteria
        ]
        stored = {"scale": list(self.scale), "criteria": rows}
        return stored if self.runs == 1 else stored | {"runs": self.runs}  # older runs are stored without `runs`

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Criteria":
        """The criteria from what `as_json` returned."""
        rows = [
            {key: value for key, value in row.items() if key not in {"kind", "label"}} for row in stored["criteria"]
        ]
        return cls(scale=tuple(stored["scale"]), criteria=rows, runs=stored.get("runs", 1))

    def fingerprint(self) -> str:
        """A hash of the criteria, in hex."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scale: Any = None
    runs: Any = None
    criteria: list[Any]


def read_criteria(path: Path) -> Criteria:
    """Read a criteria file.

    Raises:
        BadRequest: the file has mistakes; the message gives the line and field of each, and what is allowed.
    """
    file = UserFile(path, "criteria file")
    content = file.content if isinstance(file.content, dict) else {}
    file.fit(_File, file.content)
    criteria: dict[str, Criterion] = {}
    lines: dict[str, int] = {}
    entries = content.get("criteria")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        at = ("criteria", index)
        criterion = _read_one(file, at, entry)
        # In one form: two ids that look the same are the same.
        name = normalize("NFC", str(entry["id"]).strip()) if isinstance(entry, dict) and "id" in entry else None
        if name in lines:
            file.mistake((*at, "id"), f"{name!r} is already the id of the criterion in line {lines[name]}")
        elif name is not None:
            lines[name] = file.line((*at, "id"))
            if criterion is not None:
                criteria[name] = criterion
    if entries == []:
        file.mistake(("criteria",), "it is empty: list at least one criterion, with an id and ask, fact or document")
    scale = _scale(file, content.get("scale", [0, 5]))
    runs = _runs(file, content.get("runs", 1))
    file.mistakes.check()
    return Criteria(scale=scale, criteria=list(criteria.values()), runs=runs)


def _scale(file: UserFile, written: Any) -> tuple[float, float]:
    ends = [end for end in written if type(end) in {int, float} and abs(end) <= _MOST] if type(written) is list else []
    if len(ends) != 2 or len(written) != 2 or ends[1] - ends[0] < _LEAST:
        file.mistake(("scale",), "must be two numbers, the lowest score and the highest one, such as [0, 5]")
        return 0.0, 0.0
    return float(ends[0]), float(ends[1])


def _runs(file: UserFile, written: Any) -> int:
    if type(written) is not int or not 1 <= written <= _MOST_RUNS:
        file.mistake(("runs",), f"must be a whole number from 1 to {_MOST_RUNS}: how many times each judgement is made")
        return 1
    return written


def _read_one(file: UserFile, at: tuple[str | int, ...], written: Any) -> Criterion | None:
    """One criterion of the file; None when it has mistakes, which are added to those of the file."""
    if not isinstance(written, dict):
        file.mistake(at, "must be a mapping of fields, such as {id: audited, document: audited accounts}")
        return None
    kinds = [key for key in _KINDS if key in written]
    if len(kinds) != 1:
        present = " and ".join(kinds) if kinds else "none of them"
        file.mistake(at, f"must have exactly one of ask (judged), fact (with a rule) or document; it has {present}")
        for key in [key for key in written if key not in _KNOWN]:
            file.mistake((*at, key), f"there is no such field{nearest(str(key), _KNOWN)}")
        return None
    criterion = file.fit(_KINDS[kinds[0]], written, at)
    if isinstance(criterion, FactRule):
        _check_rule(file, at, criterion)
    return criterion


def _check_rule(file: UserFile, at: tuple[str | int, ...], criterion: FactRule) -> None:
    try:
        rules.parse(criterion.fact, criterion.rule)
    except BadRequest as error:
        file.mistake((*at, "fact"), error.message)
    except ValueError as error:
        file.mistake((*at, "rule"), str(error))
