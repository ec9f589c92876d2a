"""The kinds, states and dates of a room's documents, their families, and what they cite and the room has not.

What each text tells is found once and stored with it. Names, folders and families take 0.2 ms a document: those that a
run has found are remembered by the process that found them.

A family is what belongs together: copies, near copies, and versions of one document. The newest signed member of each
family represents it. Near copies are found by bands of their sketches, so a room of 10,000 near copies takes no longer
than one of 10,000 different documents.

What each document is `document.py` tells.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from threading import Lock
from typing import Any, Final, NamedTuple

from cachetools import LRUCache

from storage import database
from storage.documents import RoomDocument, RunDocument
from storage.texts import NewSigns, find_signs, find_texts, group_sizes, save_signs, text_sizes
from tasks.documents.kinds.catalogue import find_kinds, find_spoken_kinds, is_kind, kinds, plain_words, read_file
from tasks.documents.kinds.contents import resemblance, sketch
from tasks.documents.kinds.document import YEAR, DocumentKind, document_kind
from tasks.documents.kinds.signs import Signs, read_signs, signs_version

_NEAR: Final = 0.85
"""The share of shingles from which on two texts are copies of each other: a scan has some words wrong."""
_VERSION: Final = 0.3
"""The share from which on two documents are versions of one, where only marks of versions tell their names apart…"""
_DATED_VERSION: Final = 0.6
"""… and where dates do."""
_BAND: Final = 16  # bytes: four of the 64 numbers; two texts that share .85 share one of 16 bands all but never not
_STATES: Final = {"signed": 0, None: 1, "unsigned": 2, "draft": 3, "template": 4, "superseded": 5}
_ENGAGEMENT: Final = "engagement_letter"  # there is one for each year, and no signature tells it
_NUMBER: Final = re.compile(r"\b(?:v|ver|version|rev|revision|fassung|r) ?(\d+(?: \d+)*)\b")
_FIGURES: Final = re.compile(r"\b\d+\b")
_COPIED: Final = re.compile(r"\b(?:copy|[ck]opie|[ck]opia)\b|\w \d$")
"""How a file is named that was copied beside another: "Bylaws copy", "Bylaws (1)"."""
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
    """A document that may belong to a family: the hash of its content, the sketch of its text, the words at its top."""

    id: str
    name: str
    what: DocumentKind
    content: str | None = None
    sketch: bytes = b""
    head: str = ""


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
    """Whether two texts of one form are two documents: of other kinds, titles or days or, by names, other parties."""
    words, others = set(_base(one.name).split()), set(_base(other.name).split())
    heads = set(one.head.split()), set(other.head.split())
    if _are_unlike(one, other) or (_is_called(words - others, *heads) and _is_called(others - words, *heads[::-1])):
        return True
    kind = kinds().get(one.what.kind or other.what.kind or "")
    if _on_other_days(one, other) and (kind.serial if kind is not None else _name_other_years(one, other)):
        return True
    return kind is not None and kind.signed and bool(words - others) and bool(others - words)


def _is_called(own: set[str], head: set[str], other: set[str]) -> bool:
    """Whether all words that only one of two names has stand at the top of its text, and some not at the other's."""
    return bool(own) and own <= head and not own <= other


def _are_unlike(one: FamilyMember, other: FamilyMember) -> bool:
    """Whether two documents are of other kinds, or agreements whose openings have other days."""
    kind = kinds().get(one.what.kind or "")
    if kind is None or kind.id != other.what.kind:
        return kind is not None and other.what.kind is not None
    names = plain_words(f"{one.name} {other.name}")
    if not (kind.signed or kind.id == _ENGAGEMENT) or _NUMBER.search(names) or _version_words().search(names):
        return False  # "Lease v1" and "Lease signed" have days of their own
    return bool(one.what.days and other.what.days) and one.what.days.isdisjoint(other.what.days)


def _on_other_days(one: FamilyMember, other: FamilyMember) -> bool:
    return None not in {one.what.date, other.what.date} and one.what.date != other.what.date


def _name_other_years(one: FamilyMember, other: FamilyMember) -> bool:
    """Whether two names have other years, as those of reports of two years have."""
    years, others = (set(YEAR.findall(member.name)) for member in (one, other))
    return bool(years and others) and years.isdisjoint(others)


def _are_versions(one: FamilyMember, other: FamilyMember) -> bool:
    kind = kinds().get(one.what.kind or other.what.kind or "")
    if _are_unlike(one, other):
        return False
    is_later = _on_other_days(one, other)
    by_date = _dates(one.name) != _dates(other.name) or is_later
    if by_date and (kind.serial if kind is not None else is_later and _name_other_years(one, other)):
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


def _order(member: FamilyMember) -> tuple[int, list[int], str, bool, str]:
    number = _NUMBER.search(plain_words(member.name))
    numbers = [-int(part) for part in number[1].split()] if number else []
    newest = "".join(chr(0x7F - ord(letter)) for letter in member.what.date or "") or "~"
    copied = _COPIED.search(plain_words(member.name.rsplit(".", 1)[0])) is not None
    return _STATES[member.what.state], numbers or [0], newest, copied, member.name


def _tie(front: FamilyMember, member: FamilyMember) -> FamilyTie:
    if front.content and front.content == member.content:
        return FamilyTie.COPY
    is_near = resemblance(front.sketch, member.sketch) >= _NEAR and front.what.state == member.what.state
    return FamilyTie.NEAR_COPY if is_near and _base(front.name) != _base(member.name) else FamilyTie.VERSION


class IndexedDocument(NamedTuple):
    """A document of a folder that was listed."""

    document_id: str
    name: str
    path: str


Listed = RunDocument | RoomDocument | IndexedDocument
"""A document of a run or a room."""


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document that another one refers to and the room lacks: the words, and the kind if it is an agreement.

    `start` and `end` are the offsets of the words in the text of the citing document.
    """

    words: str
    kind: str | None
    document_id: str
    document_name: str
    start: int
    end: int

    @property
    def in_words(self) -> str:
        """What to ask for, in words."""
        return f"“{self.words}”, which {self.document_name} refers to"


@dataclass(frozen=True, eq=False)
class RoomKinds:
    """The kinds of a room's documents, by document id."""

    documents: Mapping[str, Listed]
    kinds: Mapping[str, DocumentKind]
    signs: Mapping[str, Signs]
    sketches: Mapping[str, bytes] = field(default_factory=dict)
    contents: Mapping[str, str | None] = field(default_factory=dict)

    @cached_property
    def families(self) -> list[Family]:
        """The families of documents that belong together."""
        return find_families(
            [
                FamilyMember(name, row.name, self.kinds[name], self.contents.get(name), marked, signs.head)
                for name, row in self.documents.items()
                for marked, signs in [(self.sketches.get(name, b""), self.signs.get(name, Signs()))]
            ]
        )

    @cached_property
    def fronts(self) -> Mapping[str, str]:
        """The name of the document that represents the family, by the id of each other member."""
        return {
            member.id: family.front.name
            for family in self.families
            for member in (family.front, *(other for other, _ in family.others))
        }

    def row(self, document_id: str) -> dict[str, Any]:
        """What a list says about a document: kind and title, state, date, family, pages, and pages with words."""
        what, signs = self.kinds[document_id], self.signs.get(document_id)
        pages = signs.pages if signs else 0
        return {
            "kind": what.kind,
            "kind_title": what.title,
            "state": what.state,
            "date": what.date,
            "family": self.fronts.get(document_id),
            "pages": pages or None,
            "pages_read": signs.pages_read if signs and pages else None,
        }

    @cached_property
    def cited(self) -> list[CitedDocument]:
        """Agreements and annexes that documents refer to and that are certainly not in the room, each once."""
        hidden = {other.id for family in self.families for other, _ in family.others}
        found: dict[tuple[str, str], CitedDocument] = {}
        names = [plain_words(row.name) for row in self.documents.values()]
        for document_id, signs in self.signs.items():
            for kind, day, words, start, end in signs.cited if document_id not in hidden else ():
                row = self.documents[document_id]
                if kind is None:
                    key = (document_id, words)
                    has = any(re.search(rf"\b{plain_words(words)}\b", name) for name in names)
                else:
                    key = (kind, day or "")
                    has = any(self._may_be(other, kind, day) for other in self.kinds)
                if not has:
                    found.setdefault(key, CitedDocument(words, kind, document_id, row.name, start, end))
        return list(found.values())

    def _may_be(self, document_id: str, kind: str, day: str | None) -> bool:
        """Whether a document may be the one of that kind and day: it is, or nothing shows its day or its kind."""
        what, signs = self.kinds[document_id], self.signs.get(document_id)
        if what.holds(kind) is None and not (what.kind and is_kind(kind, what.kind)):
            return (
                what.kind is None
                and kinds()[kind].title.split()[0].casefold() in self.documents[document_id].name.casefold()
            )
        days = {what.date, *(signs.days if signs else ())} - {None}
        return not days or day in days


def find_text_signs(text_ids: Iterable[int], *, find: bool = True) -> dict[int, tuple[Signs, bytes]]:
    """What these texts show, by text id; with `find`, what has not been found before is found now and stored."""
    ids, version = sorted(set(text_ids)), signs_version()
    with database.reading() as session:
        known = find_signs(session, ids, version)
        sizes = text_sizes(session, [text_id for text_id in ids if find and text_id not in known])
    for group in group_sizes(sizes):
        with database.reading() as session:
            new = {
                text.id: NewSigns(
                    version,
                    asdict(read_signs(text.text, text.places)),
                    b"" if text.pages_read == 0 else sketch(text.text),  # stamps and unknown characters tell no copies
                )
                for text in find_texts(session, group)
                if text.id is not None
            }
        with database.writing() as session:
            save_signs(session, new)
        known |= {text_id: (found.signs, found.sketch) for text_id, found in new.items()}
    return {text_id: (Signs(**signs), mark) for text_id, (signs, mark) in known.items()}


def room_kinds(
    documents: Sequence[Listed], texts: Mapping[str, int], contents: Mapping[str, str | None], *, find: bool = True
) -> RoomKinds:
    """The kinds of these documents.

    Args:
        documents: those of a room or a run.
        texts: by document the id of its text, where it has one with words.
        contents: by document the hash of what it holds, where that is known.
        find: whether texts that were not looked at are looked at now.
    """
    known = find_text_signs(texts.values(), find=find)
    signs: dict[str, Signs] = {}
    sketches: dict[str, bytes] = {}
    for name, text_id in texts.items():
        if text_id in known:
            signs[name], sketches[name] = known[text_id]
    whats = {row.document_id: document_kind(row.name, row.path, signs.get(row.document_id)) for row in documents}
    room = RoomKinds({row.document_id: row for row in documents}, whats, signs, sketches, contents)
    shared = _share_kinds(room.families, signs)
    return replace(room, kinds=whats | shared) if shared else room  # to find families takes .24 ms a document


def _share_kinds(families: Iterable[Family], signs: Mapping[str, Signs]) -> dict[str, DocumentKind]:
    """What documents are of which their copies tell a kind and they do not, where all of these tell the same.

    One that names kinds and is of none is about them: "Commentary on our lease".
    """
    shared: dict[str, DocumentKind] = {}
    for family in families:
        members = [family.front, *(member for member, _ in family.others)]
        told = [member for member in members if member.what.kind][:_MOST_LEADERS]
        for member in members if told else ():
            words = plain_words(member.name)
            names_kinds = find_kinds(words) or find_spoken_kinds(words) or signs.get(member.id, Signs()).denied
            if member.what.kind is not None or member.what.speaks_of or names_kinds:
                continue
            alike = [other.what for other in told if _is_copy(member, other)]
            if len({what.kind for what in alike}) == 1:
                shared[member.id] = replace(member.what, kind=alike[0].kind, certainty=alike[0].certainty)
    return shared


def _is_copy(one: FamilyMember, other: FamilyMember) -> bool:
    is_same = one.content is not None and one.content == other.content
    return is_same or resemblance(one.sketch, other.sketch) >= _NEAR


def run_kinds(documents: Sequence[RunDocument], *, find: bool = True) -> RoomKinds:
    """`room_kinds` of a company's documents in a run.

    Kinds that rest on all texts are kept, since a run that has scored a company reports on it soon.
    """
    rows = tuple(
        (row.document_id, row.name, row.path, row.text_id if row.characters else None, row.content_hash)
        for row in documents
    )
    key = database.url(), rows
    with _LOCK:
        room = _KEPT.get(key)
    if room is None:
        texts = {name: text_id for name, _, _, text_id, _ in rows if text_id is not None}
        contents = {name: content for name, _, _, _, content in rows}
        room = room_kinds([IndexedDocument(*row[:3]) for row in rows], texts, contents, find=find)
        if len(room.signs) == len(texts) and len(rows) < _KEPT.maxsize:
            with _LOCK:
                _KEPT[key] = room
    return room


_KEPT: Final[LRUCache[tuple[object, ...], RoomKinds]] = LRUCache(5_000, lambda room: len(room.documents) + 1)
"""Rooms of 5,000 documents in all."""
_LOCK: Final = Lock()
