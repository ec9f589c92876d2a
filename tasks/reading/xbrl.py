"""What tags say about numbers in accounts: the facts of XBRL, inline in a page or in an instance.

Written according to the specifications of Inline XBRL 1.1
(https://www.xbrl.org/specification/inlinexbrl-part1/rec-2013-11-18/), XBRL 2.1 and XBRL Dimensions 1.0. Taxonomies are
not downloaded: a fact's name, context and unit are in the file. None of the libraries that read them says where in a
text a fact stands.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from tasks.language.normalise import one_line

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_SCALES: Final = range(-6, 10)
"""Powers of ten that accounts are written in; a tag with another one was made wrongly."""

_MOST: Final = Decimal(10) ** 14
_ZERO: Final = frozenset({"zerodash", "numdash", "fixedzero"})
_PLAIN: Final = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_SPLIT: Final = "|"

RESOURCES: Final = frozenset((
    "context", "unit", "divide", "identifier", "instant", "startdate", "enddate", "explicitmember", "typedmember",
    "measure",
))  # fmt: skip
"""The elements of contexts and units, in lower case."""

BROKEN_CONTEXT: Final = "tags with a broken context"
BROKEN_UNIT: Final = "tags with a broken unit"
BROKEN_SCALE: Final = "tags with a scale or an amount that cannot be"
BROKEN_NUMBER: Final = "tags whose text is not a number in their format"
OTHER_ENTITY: Final = "tags of another entity"


class Tag(NamedTuple):
    """What a tag says about a number.

    Attributes:
        name: the local name of its element: "Turnover".
        period: a day, or both days of a duration; "" where it is broken.
        unit: an ISO currency, "pure", "shares" or another measure's local name.
        value: with sign and scale; None where it is broken.
        step: what one unit of its last digit is worth.
        members: the dimensions it is broken down by, "axis=member" each.
        broken: why it cannot be taken; "" where it can.
    """

    name: str
    period: str = ""
    unit: str = ""
    value: Decimal | None = None
    step: Decimal = Decimal(1)
    members: tuple[str, ...] = ()
    broken: str = ""

    @property
    def label(self) -> str:
        """The label of its place."""
        value = "" if self.value is None else f"{self.value:f}"
        return _SPLIT.join(
            (self.name, self.period, self.unit, value, f"{self.step:f}", " ".join(self.members), self.broken)
        )


def parse_tag(label: str) -> Tag:
    """The tag described by the label of a place."""
    name, period, unit, value, step, members, broken = label.split(_SPLIT)
    return Tag(name, period, unit, Decimal(value) if value else None, Decimal(step), tuple(members.split()), broken)


def local(name: str) -> str:
    """A name without its prefix or namespace."""
    return one_line(name).rpartition("}")[2].rpartition(":")[2].replace(_SPLIT, "")


@dataclass
class _Context:
    entity: str = ""
    days: dict[str, str] = field(default_factory=dict)
    members: list[str] = field(default_factory=list)

    @property
    def period(self) -> str:
        """A day, or both days of a duration; "" if they are missing or out of order."""
        names = ("instant",) if "instant" in self.days else ("startdate", "enddate")
        days = [found.group() for name in names if (found := _DAY.match(self.days.get(name, "").strip()))]
        try:
            dates = [date.fromisoformat(day) for day in days]
        except ValueError:
            return ""
        return "/".join(days) if len(days) == len(names) and dates == sorted(dates) else ""


@dataclass
class Fact:
    """A fact as written: its local name, its attributes by lower-case name, and its words."""

    name: str
    attributes: Mapping[str, str]
    words: list[str] = field(default_factory=list)


class Tags:
    """Collects contexts and units, element by element, and interprets facts; names are in lower case."""

    def __init__(self) -> None:
        self._contexts: dict[str, _Context] = {}
        self._units: dict[str, list[str]] = {}
        self._context = _Context()
        self._unit: list[str] = []
        self._axis = ""
        self._words: list[str] | None = None

    def resource(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element of a context or unit."""
        if name == "context":
            self._context = self._contexts.setdefault(attributes.get("id", ""), _Context())
        elif name == "unit":
            self._unit = self._units.setdefault(attributes.get("id", ""), [])
        elif name == "divide":
            self._unit.append("/")
        elif name in ("explicitmember", "typedmember"):
            self._axis = local(attributes.get("dimension", ""))
        self._words = []

    def words(self, text: str) -> None:
        """Handle words in the element that started last."""
        if self._words is not None:
            self._words.append(text)

    def end_resource(self, name: str) -> None:
        """Handle the end of an element of a context or unit."""
        words, self._words = "".join(self._words or ()).strip(), None
        if name == "identifier":
            self._context.entity = words
        elif name in ("instant", "startdate", "enddate"):
            self._context.days[name] = words
        elif name in ("explicitmember", "typedmember"):
            self._context.members.append(f"{self._axis}={local(words) if name == 'explicitmember' else 'typed'}")
        elif name == "measure":
            self._unit.append(local(words))

    def tag(self, fact: Fact) -> Tag | None:
        """What a fact says, once all contexts and units are known.

        None if it says that there is no value, and for a page whose contexts are in another page.
        """
        attributes = fact.attributes
        if not self._contexts or any(
            local(name) == "nil" and value.strip() in ("true", "1") for name, value in attributes.items()
        ):
            return None
        context = self._contexts.get(attributes.get("contextref", ""))
        unit = self._units.get(attributes.get("unitref", ""), [])
        if context is None or not context.period:
            return Tag(fact.name, broken=BROKEN_CONTEXT)
        tag = Tag(fact.name, context.period, "".join(unit), members=tuple(context.members))
        if context.entity != self._entity():
            return tag._replace(broken=OTHER_ENTITY)
        if not unit:
            return tag._replace(broken=BROKEN_UNIT)
        try:
            scale = int(attributes.get("scale") or 0)
        except ValueError:
            scale = _SCALES.stop
        if scale not in _SCALES:
            return tag._replace(broken=BROKEN_SCALE)
        found = _number("".join(fact.words).strip(), local(attributes.get("format", "")).lower().replace("-", ""))
        if found is None:
            return tag._replace(broken=BROKEN_NUMBER)
        value, step = found[0].scaleb(scale), found[1].scaleb(scale)
        if abs(value) >= _MOST:
            return tag._replace(broken=BROKEN_SCALE)
        return tag._replace(
            value=-value if attributes.get("sign") == "-" else value, step=_find_precision(attributes, step)
        )

    def _entity(self) -> str:
        """The entity of most contexts: the one that files the report."""
        (entity, _), *_ = Counter(context.entity for context in self._contexts.values()).most_common(1)
        return entity


def _find_precision(attributes: Mapping[str, str], step: Decimal) -> Decimal:
    """The value of one unit in the last digit: as shown, or coarser if the fact says so."""
    try:
        return max(step, Decimal(1).scaleb(-int(attributes.get("decimals", ""))))
    except (ValueError, InvalidOperation):
        return step


def _number(words: str, form: str) -> tuple[Decimal, Decimal] | None:
    """The number that a fact shows in its format, and the value of its last digit; None if it shows none.

    The formats are those of the transformation registries
    (https://www.xbrl.org/specification/inlinexbrl-transformationregistry/).
    """
    if form in _ZERO:
        return Decimal(0), Decimal(1)
    mark = "," if form in ("numcommadecimal", "numdotcomma", "numspacecomma", "numcomma") else "."
    sign, words = (-1, words[1:]) if not form and words.startswith("-") else (1, words)
    kept = re.sub(rf"[^\d{mark}]" if form.startswith("num") else r"[,\s]", "", words).replace(mark, ".")
    if not _PLAIN.fullmatch(kept) or (form and not form.startswith("num")) or form.startswith("numword"):
        return None
    value = Decimal(kept)
    exponent = value.as_tuple().exponent
    return sign * value, Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
