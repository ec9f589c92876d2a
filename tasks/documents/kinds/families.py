"""Which documents of a room belong together: copies, near copies, and versions of one document.

The newest signed member of each family represents it. Near copies are found by bands of their sketches, so a room of
10,000 near copies takes no longer than one of 10,000 different documents.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from tasks.documents.kinds.catalogue import kinds, plain_words, read_file
from tasks.documents.kinds.kind import DocumentKind
from tasks.documents.kinds.signs import resemblance

_NEAR: Final = 0.85
"""The share of shingles from which on two texts are copies of each other: a scan has some words wrong."""
_VERSION: Final = 0.3
"""The share from which on two documents are versions of one, where only marks of versions tell their names apart…"""
_DATED_VERSION: Final = 0.6
"""… and where dates do."""
_BAND: Final = 16  # bytes: four of the 64 numbers; two texts that share .85 share one of 16 bands all but never not
_STATES: Final = {"signed": 0, None: 1, "unsigned": 2, "draft": 3, "template": 4, "superseded": 5}
_NUMBER: Final = re.compile(r"\b(?:v|ver|version|rev|revision|fassung|r) ?(\d+(?: \d+)*)\b")
_FIGURES: Final = re.compile(r"\b\d+\b")
_MONTH: Final = re.compile(
    r"\b(?:jan|feb|mar|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\b|\bq[1-4]\b|\bfy\b"
)


class FamilyTie(StrEnum):
    """What makes a document a member of its family, apart from the one that represents it."""

    COPY = "copy"
    NEAR_COPY = "near copy"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A document that may belong to a family: `content` is the hash of its content, `sketch` the sketch of its text."""

    id: str
    name: str
    what: DocumentKind
    content: str | None = None
    sketch: bytes = b""


@dataclass(frozen=True, slots=True)
class Family:
    """Documents that belong together: the one that represents them, and the others by how they are tied to it."""

    front: FamilyMember
    others: tuple[tuple[FamilyMember, FamilyTie], ...]


def find_families(members: Sequence[FamilyMember]) -> list[Family]:
    """The families of a room that have two or more members, in the order of the documents that represent them."""
    head = {member.id: member.id for member in members}

    def leader(name: str) -> str:
        while head[name] != name:
            head[name] = name = head[head[name]]
        return name

    def join(groups: Iterable[Sequence[FamilyMember]], belong: Callable[[FamilyMember, FamilyMember], bool]) -> None:
        for group in groups:
            leaders: list[FamilyMember] = []
            for member in group:
                known = next(
                    (other for other in leaders if leader(other.id) == leader(member.id) or belong(other, member)), None
                )
                if known is not None:
                    head[leader(member.id)] = leader(known.id)
                elif len(leaders) < _MOST_LEADERS:
                    leaders.append(member)

    join(_groups(members, lambda member: [member.content] if member.content else []), lambda *_: True)
    join(_groups(members, _bands), _are_near)
    join(_groups(members, lambda member: [_base(member.name)]), _are_versions)
    gathered: dict[str, list[FamilyMember]] = defaultdict(list)
    for member in members:
        gathered[leader(member.id)].append(member)
    return [_family(family) for family in gathered.values() if len(family) > 1]


_MOST_LEADERS: Final = 20
"""Documents of a group that are no family with which the next one is compared: all of them would be the square."""


def _groups(
    members: Sequence[FamilyMember], keys: Callable[[FamilyMember], Iterable[str | bytes]]
) -> list[list[FamilyMember]]:
    groups: dict[str | bytes, list[FamilyMember]] = defaultdict(list)
    for member in members:
        for key in keys(member):
            groups[key].append(member)
    return [group for key, group in groups.items() if key and len(group) > 1]


def _bands(member: FamilyMember) -> Iterable[bytes]:
    return (
        bytes([place]) + member.sketch[place * _BAND : (place + 1) * _BAND]
        for place in range(len(member.sketch) // _BAND)
    )


def _are_near(one: FamilyMember, other: FamilyMember) -> bool:
    return resemblance(one.sketch, other.sketch) >= _NEAR and not _are_apart(one, other)


def _are_apart(one: FamilyMember, other: FamilyMember) -> bool:
    """Whether two texts of one form are two documents: of other kinds or days or, by their names, other parties."""
    if one.what.kind and other.what.kind and one.what.kind != other.what.kind:
        return True
    kind = kinds().get(one.what.kind or other.what.kind or "")
    if kind is not None and kind.serial and _on_other_days(one, other):
        return True
    words, others = set(_base(one.name).split()), set(_base(other.name).split())
    return kind is not None and kind.signed and bool(words - others) and bool(others - words)


def _on_other_days(one: FamilyMember, other: FamilyMember) -> bool:
    return None not in {one.what.date, other.what.date} and one.what.date != other.what.date


def _are_versions(one: FamilyMember, other: FamilyMember) -> bool:
    kind = kinds().get(one.what.kind or other.what.kind or "")
    if one.what.kind != other.what.kind and one.what.kind and other.what.kind:
        return False
    by_date = _dates(one.name) != _dates(other.name) or _on_other_days(one, other)
    if by_date and kind is not None and kind.serial:
        return False
    return resemblance(one.sketch, other.sketch) >= (_DATED_VERSION if by_date else _VERSION)


def _base(name: str) -> str:
    """The part that names of versions share: the words without dates, numbers and marks of versions and states."""
    words = _MONTH.sub(" ", _FIGURES.sub(" ", _NUMBER.sub(" ", plain_words(name.rsplit(".", 1)[0]))))
    return " ".join(_version_words().sub(" ", words).split())


@cache
def _version_words() -> re.Pattern[str]:
    content = read_file("marks.toml")
    marks = [*content["versions"]["words"], *(word for words in content["states"].values() for word in words)]
    longest_first = sorted((plain_words(mark) for mark in marks if "*" not in mark), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b")


def _dates(name: str) -> list[str]:
    words = _NUMBER.sub(" ", plain_words(name.rsplit(".", 1)[0]))
    return [*[figure for figure in _FIGURES.findall(words) if len(figure) >= 4], *_MONTH.findall(words)]


def _family(members: Sequence[FamilyMember]) -> Family:
    front, *others = sorted(members, key=_order)
    return Family(front, tuple((member, _tie(front, member)) for member in others))


def _order(member: FamilyMember) -> tuple[int, list[int], str, str]:
    number = _NUMBER.search(plain_words(member.name))
    numbers = [-int(part) for part in number[1].split()] if number else []
    newest = "".join(chr(0x7F - ord(letter)) for letter in member.what.date or "") or "~"
    return _STATES[member.what.state], numbers or [0], newest, member.name


def _tie(front: FamilyMember, member: FamilyMember) -> FamilyTie:
    if front.content and front.content == member.content:
        return FamilyTie.COPY
    near = resemblance(front.sketch, member.sketch) >= _NEAR
    return (
        FamilyTie.NEAR_COPY
        if near and front.what.state == member.what.state and _base(front.name) != _base(member.name)
        else FamilyTie.VERSION
    )
