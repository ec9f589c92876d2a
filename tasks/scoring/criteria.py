"""Criteria: what a team asks of every company, in three kinds that share one scale.

`ask` is judged by a model and proved by quotes, `fact` is read from the profile, `document` is
looked for in the data room.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tasks.errors import BadRequest
from tasks.scoring import rules
from tasks.user_file import UserFile

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Name
    weight: float = Field(1, gt=0, allow_inf_nan=False)


class Judged(_Written):
    """A question whose answer is judged on the scale; `guide` says what a score means."""

    ask: Words
    guide: str = ""

    @property
    def kind(self) -> Literal["judged"]:
        return "judged"

    @property
    def label(self) -> str:
        return self.ask


class FactRule(_Written):
    """A rule on a field of the company profile: met is the top of the scale, not met its bottom."""

    fact: Words
    rule: Words

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


class Criteria(BaseModel):
    """A criteria file: the scale (lowest, highest) and the criteria in the user's order."""

    model_config = ConfigDict(frozen=True)

    scale: tuple[float, float]
    criteria: list[Criterion]

    def as_json(self) -> dict[str, Any]:
        """The form that a run keeps: what was written, and each criterion's kind and label."""
        listed = [each.model_dump() | {"kind": each.kind, "label": each.label} for each in self.criteria]
        return {"scale": list(self.scale), "criteria": listed}

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "Criteria":
        """What `as_json` gave."""
        listed = [
            {key: value for key, value in each.items() if key not in {"kind", "label"}} for each in kept["criteria"]
        ]
        return cls(scale=tuple(kept["scale"]), criteria=listed)

    def fingerprint(self) -> str:
        """The same for the same criteria, in hex."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scale: list[int | float] = Field([0, 5], min_length=2, max_length=2)
    criteria: list[dict[str, Any]] = Field(min_length=1)


def read_criteria(path: Path) -> Criteria:
    """Read a criteria file.

    Raises:
        BadRequest: what is wrong in it, each mistake with line, field and what is allowed.
    """
    file = UserFile(path, "criteria file")
    written = file.fit(_File, file.content if file.content is not None else {})
    file.check()
    assert written is not None
    low, high = written.scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        file.mistake(("scale",), f"must go from a lower number to a higher one, such as [0, 5], not [{low}, {high}]")
    found: list[Criterion] = []
    seen: set[str] = set()
    for index, each in enumerate(written.criteria):
        at = ("criteria", index)
        kinds = [key for key in _KINDS if key in each]
        if len(kinds) != 1:
            said = "has several of" if kinds else "needs one of"
            file.mistake(at, f"it {said} ask (judged), fact with rule, document; exactly one says its kind")
            continue
        criterion = file.fit(_KINDS[kinds[0]], each, at)
        if criterion is None:
            continue
        if criterion.id in seen:
            file.mistake((*at, "id"), f"{criterion.id!r} is the id of another criterion already")
        seen.add(criterion.id)
        if isinstance(criterion, FactRule):
            _check_rule(file, at, criterion)
        found.append(criterion)
    file.check()
    return Criteria(scale=(float(low), float(high)), criteria=found)


def _check_rule(file: UserFile, at: tuple[str | int, ...], criterion: FactRule) -> None:
    try:
        rules.parse(criterion.fact, criterion.rule)
    except BadRequest as error:
        file.mistake((*at, "fact"), error.message)
    except ValueError as error:
        file.mistake((*at, "rule"), str(error))
