"""Criteria: what a team asks of every company, in three kinds that share one scale.

`ask` is judged by a model and proved by quotes, `fact` is read from the profile, `document` is
looked for in the data room.
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

_MOST_RUNS = 9  # of one judgement; more cost more than they tell
_MOST = 1_000_000.0  # of a weight and of the scale's ends: their products stay exact
_LEAST = 0.000_001  # of a weight and of the scale's width, for the same reason
_LONGEST_NAME = 64  # characters


def _says_something(words: str) -> str:
    if not tokens(words):
        raise ValueError("has no word in it that could be looked for")
    return words


def _is_short(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"must have at most {_LONGEST_NAME} characters")
    return name


def _counts(weight: float) -> float:
    if weight < _LEAST:
        raise ValueError(f"must be at least {_LEAST:f}")
    return weight


Name = Annotated[Line, AfterValidator(_is_short)]
Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(_says_something)
]


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Name
    weight: Annotated[float, AfterValidator(_counts)] = Field(1, gt=0, le=_MOST, allow_inf_nan=False)


class Judged(_Written):
    """A question whose answer is judged on the scale; `guide` says what a score means."""

    ask: Words
    guide: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""

    @property
    def kind(self) -> Literal["judged"]:
        return "judged"

    @property
    def label(self) -> str:
        return self.ask


class FactRule(_Written):
    """A rule on a field of the company profile: met is the top of the scale, not met its bottom."""

    fact: Name
    rule: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]

    @property
    def kind(self) -> Literal["fact"]:
        return "fact"

    @property
    def label(self) -> str:
        return f"{self.fact} {self.rule}"


class DocumentCheck(_Written):
    """A document that ought to be in the data room."""

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


class Criteria(BaseModel):
    """A criteria file: the scale (lowest, highest) and the criteria in the user's order.

    `runs` says how often each judged criterion is asked; the score in the middle is taken.
    """

    model_config = ConfigDict(frozen=True)

    scale: tuple[float, float]
    criteria: list[Criterion]
    runs: int = 1

    def as_json(self) -> dict[str, Any]:
        """The form that a run keeps: what was written, and each criterion's kind and label."""
        listed = [
            criterion.model_dump() | {"kind": criterion.kind, "label": criterion.label} for criterion in self.criteria
        ]
        kept = {"scale": list(self.scale), "criteria": listed}
        return kept if self.runs == 1 else kept | {"runs": self.runs}  # without it, as runs before there were repeats

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "Criteria":
        """What `as_json` gave."""
        listed = [
            {key: value for key, value in each.items() if key not in {"kind", "label"}} for each in kept["criteria"]
        ]
        return cls(scale=tuple(kept["scale"]), criteria=listed, runs=kept.get("runs", 1))

    def fingerprint(self) -> str:
        """The same for the same criteria, in hex."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scale: Any = None
    runs: Any = None
    criteria: list[Any]


def read_criteria(path: Path) -> Criteria:
    """Read a criteria file.

    Raises:
        BadRequest: what is wrong in it, each mistake with line, field and what is allowed.
    """
    file = UserFile(path, "criteria file")
    content = file.content if isinstance(file.content, dict) else {}
    file.fit(_File, file.content)
    found: dict[str, Criterion] = {}
    lines: dict[str, int] = {}
    listed = content.get("criteria")
    for index, each in enumerate(listed if isinstance(listed, list) else []):
        at = ("criteria", index)
        criterion = _read_one(file, at, each)
        # In one form: two ids that look the same are the same.
        name = normalize("NFC", str(each["id"]).strip()) if isinstance(each, dict) and "id" in each else None
        if name in lines:
            file.mistake((*at, "id"), f"{name!r} is the id of the criterion in line {lines[name]} already")
        elif name is not None:
            lines[name] = file.line((*at, "id"))
            if criterion is not None:
                found[name] = criterion
    if listed == []:
        file.mistake(("criteria",), "it is empty: list at least one criterion, with an id and ask, fact or document")
    scale = _scale(file, content.get("scale", [0, 5]))
    runs = _runs(file, content.get("runs", 1))
    file.mistakes.check()
    return Criteria(scale=scale, criteria=list(found.values()), runs=runs)


def _scale(file: UserFile, written: Any) -> tuple[float, float]:
    ends = [end for end in written if type(end) in {int, float} and abs(end) <= _MOST] if type(written) is list else []
    if len(ends) != 2 or len(written) != 2 or ends[1] - ends[0] < _LEAST:
        file.mistake(("scale",), "must be two numbers, the lowest score and the highest one, such as [0, 5]")
        return 0.0, 0.0
    return float(ends[0]), float(ends[1])


def _runs(file: UserFile, written: Any) -> int:
    if type(written) is not int or not 1 <= written <= _MOST_RUNS:
        file.mistake(("runs",), f"must be a whole number from 1 to {_MOST_RUNS}: how often each judgement is asked for")
        return 1
    return written


def _read_one(file: UserFile, at: tuple[str | int, ...], written: Any) -> Criterion | None:
    """One criterion of the file; None when it is wrong, the mistakes noted."""
    if not isinstance(written, dict):
        file.mistake(at, "must be a mapping of fields, such as {id: audited, document: audited accounts}")
        return None
    kinds = [key for key in _KINDS if key in written]
    if len(kinds) != 1:
        said = f"has {' and '.join(kinds)}" if kinds else "has none of them"
        file.mistake(
            at, f"ask (judged), fact with rule, document: exactly one says a criterion's kind; this one {said}"
        )
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
