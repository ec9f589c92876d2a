"""The kinds, states and dates of a room's documents, their families, and what they cite and the room has not.

What each text tells is found once and stored with it. Names, folders and families take 0.2 ms a document: those of a
run that has ended are remembered by the process that looked at them last.

A family is what belongs together: copies, near copies, and versions of one document. The newest signed member of each
family represents it. Near copies are found by bands of their sketches, so a room of 10,000 near copies takes no longer
than one of 10,000 different documents.

What a document is follows from its name, its folder and its text. A kind that is not certain is not given. If name and
title disagree, the one that the document's words confirm counts.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from pathlib import PurePath
from typing import Any, Final, NamedTuple, Protocol

from storage import database
from storage.documents import RunDocument, company_documents
from storage.texts import NewSigns, find_signs, find_texts, group_sizes, save_signs, text_sizes
from tasks.documents.kinds.catalogue import (
    Kind,
    Match,
    find_joined_kinds,
    find_kind,
    find_kinds,
    is_kind,
    kinds,
    marks,
    may_be_document,
    names,
    plain_words,
    read_file,
)
from tasks.documents.kinds.signs import Signs, find_state, read_signs, resemblance, signs_version, sketch
from tasks.language.periods import dates_in

_CERTAINTY: Final = {"both": 0.99, "title": 0.94, "name": 0.9, "one of two": 0.9, "folder": 0.8}
"""How often a kind is right by what tells it, of 157 given to documents of strangers; the last two are estimates."""
_NAME_PARTS: Final = re.compile(r"\s[-–—]+\s|[,;()\[\]]|(?<!\d)\.(?!\d)")
_DIGITS: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. ]?(0[1-9]|1[0-2])[-_. ]?(0[1-9]|[12]\d|3[01])(?!\d)")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_PICTURES: Final = frozenset({".pdf", ".tif", ".tiff", ".png", ".jpg", ".jpeg"})
"""Formats in which a signature may be a picture over the empty line."""
_PAGES: Final = frozenset({".htm", ".html", ".md", ".rst", ".txt"})
"""Formats in which the first page of a site is called index, and pages about software are written."""
_ACCOUNTS: Final = "financial_statements"
_AUDITED: Final = "audited_financial_statements"
_UNAUDITED: Final = "unaudited_financial_statements"


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """What a document is.

    Attributes:
        kind: the id of its kind, None where that is not sure.
        state: `signed`, `draft`, `unsigned`, `template`, `superseded`; None where nothing tells.
        date: its own date (ISO), None where it has none.
        certainty: of the kind, 0 to 1.
        also: other kinds that it is, or holds, with where those begin in its text (0: all of it).
        speaks_of: it is a request, an index, a letter: what it names is not in it.
    """

    kind: str | None = None
    state: str | None = None
    date: str | None = None
    certainty: float = 0.0
    also: tuple[tuple[str, int], ...] = ()
    speaks_of: bool = False

    @property
    def title(self) -> str | None:
        """The ordinary name of its kind."""
        return kinds()[self.kind].title if self.kind else None

    def holds(self, wanted: str) -> int | None:
        """The offset at which a document of that kind begins in this one; None if it contains none."""
        held = [(self.kind, 0), *self.also] if self.kind else self.also
        return next((start for kind, start in held if kind and is_kind(kind, wanted)), None)


def document_kind(name: str, path: str = "", signs: Signs | None = None) -> DocumentKind:
    """What a document is. `name` has its extension, `path` is its folder; without `signs` its text is not known."""
    if not may_be_document(name):
        return DocumentKind()
    said = signs or Signs()
    stem, ending = _part_name(name)
    folder = path.rsplit("/", 1)[-1]
    words = plain_words(stem)
    kind, certainty = _kind(stem, ending, folder, said, is_read=signs is not None)
    also = tuple((part, start) for part, start in said.parts)
    if kind is not None:
        joined = [match.kind.id for title in (words, said.line) for match in find_joined_kinds(title)]
        also += tuple((other, 0) for other in joined if kind.id in joined and other != kind.id)
    audit = _audit(f"{words} {plain_words(folder)}", words, said) if kind and is_kind(kind.id, _ACCOUNTS) else None
    if kind is not None and audit is not None and audit != kind.id:
        also = ((kind.id, 0), *also)
        kind = kinds()[audit]
    if kind is not None and signs is not None and ending in _PAGES and _may_only_speak(stem, ending, kind, signs):
        kind, also = None, tuple((part, start) for part, start in also if start)
    state = _state(words, plain_words(folder), said, kind, is_picture=ending in _PICTURES and not said.is_typed)
    day = _day(stem, said)
    if kind is None or not kind.title:
        return DocumentKind(None, state, day, 0.0, also, bool(kind and kind.over and not kind.title))
    return DocumentKind(kind.id, state, day, certainty, also, kind.over)


def _part_name(name: str) -> tuple[str, str]:
    """The stem and the extension of a file's name; the stem of a site's "index.html" says nothing."""
    stem, ending = PurePath(name).stem if "." in name else name, PurePath(name).suffix.lower()
    return "" if stem.casefold() == "index" and ending in _PAGES else stem, ending


def _may_only_speak(stem: str, ending: str, kind: Kind, said: Signs) -> bool:
    """Whether a page may only speak of what its title names: it is about software, or a page of a site that neither
    says what such a document has to, nor is called so.
    """
    is_about_code = said.has_code or stem.casefold() in read_file("marks.toml")["subjects"]["pages"]
    if is_about_code or (stem and not ending.startswith(".htm")):
        return is_about_code
    is_confirmed = said.audit == "opinion" or kind.id in said.body
    is_confirmed |= said.title is None and _is_named(stem, kind, said)
    return not is_confirmed and (bool(kind.body) or not (stem or " " in said.line))


def may_be_any(name: str, path: str, signs: Signs | None, wanted: Collection[str]) -> bool:
    """Whether the name alone, the text alone or both make a document one of these kinds, or one that contains it.

    `document_kind` is silent where they disagree, or where a page may only speak of it. One of them is enough to keep
    a document from a model.
    """
    views = (document_kind(name, path, signs), document_kind(name, path), document_kind("", "", signs))
    return any(view.holds(kind) is not None for view in views for kind in wanted)


def _is_named(stem: str, kind: Kind, said: Signs) -> bool:
    """Whether the name indicates that kind, a narrower or a wider one."""
    named = _read_name(stem, said)
    return named is not None and (is_kind(named.kind.id, kind.id) or is_kind(kind.id, named.kind.id))


def _day(stem: str, said: Signs) -> str | None:
    """A document's own date: the one in its name, otherwise the one at its top unless the name has another year."""
    digits = _DIGITS.search(stem)
    if digits:
        return "-".join(digits.groups())
    named = dates_in(stem, of_any_span=True, of_months=False)
    if named or said.dated is None:
        return named[0].isoformat() if named else None
    years = _YEAR.findall(stem)
    return said.dated if not years or said.dated[:4] in years else None


def _kind(stem: str, ending: str, folder: str, said: Signs, *, is_read: bool) -> tuple[Kind | None, float]:
    """The kind and how certain it is."""
    title, named = kinds().get(said.title or ""), _read_name(stem, said)
    name = named.kind if named else None
    is_held = not said.is_brief or (name is None and ending in _PAGES - {".txt"})
    title, name = (
        None if kind is not None and kind.needs in said.lacks and (is_held or kind.needs == "documents") else kind
        for kind in (title, name)
    )
    letters = read_file("marks.toml")["letter"]["kinds"]
    if name is not None and (name.id in said.denied or (said.letter and title is None and name.id not in letters)):
        name = None
    if title is not None and name is not None and (is_kind(title.id, name.id) or is_kind(name.id, title.id)):
        return (title if is_kind(title.id, name.id) else name), _CERTAINTY["both"]
    if title is not None and said.is_late and title.title:
        title = None  # it may be a heading, or a part of a list
    ranked = [(_rank(kind, said, is_title=kind is title), kind) for kind in (title, name) if kind is not None]
    if ranked:
        best = max(ranked, key=lambda one: one[0])[1]
        return best, _CERTAINTY["one of two" if len(ranked) > 1 else "title" if best is title else "name"]
    kind = _read_folder(stem, folder, said, is_read=is_read)
    return kind, _CERTAINTY["folder"] if kind else 0.0


def _rank(kind: Kind, said: Signs, *, is_title: bool) -> int:
    """Which of a title's and a name's kinds counts where they disagree: the higher one.

    A name that only speaks about documents ("README") tells most, then a title about another document.
    """
    if kind.over:
        return 4 if is_title else 2 if kind.title else 5
    return (3 if is_title else 2) if kind.id in said.body else int(is_title)


def _read_folder(stem: str, folder: str, said: Signs, *, is_read: bool) -> Kind | None:
    """The kind that the folder, or the folder and name together, indicate."""
    name = plain_words(stem)
    for words in (plain_words(folder), plain_words(f"{folder} {stem}")):
        match = find_kind(words)
        if match is None or match.kind.over or said.letter or match.kind.id in said.denied:
            continue
        if match.kind.against.stand_in(name) or names(match.kind.id).stand_in(name):
            continue  # the name is not of it, or speaks of it: "Insurance claims history"
        fills = 2 * (match.end - match.start) >= len(words)
        if match.kind.id in said.body or (fills and not match.weak and not (is_read and match.kind.body)):
            return match.kind
    return None


def _read_name(stem: str, said: Signs) -> Match | None:
    """The kind that a name indicates, by its parts from the left; by all of it if it is about other documents."""
    whole = find_kind(plain_words(stem))
    if whole is not None and whole.kind.over:
        return whole
    for part in [*_NAME_PARTS.split(stem), stem]:
        words = plain_words(part)
        match = find_kind(words)
        if match is None or (match.weak and match.kind.id not in said.body):
            continue
        if not marks("", "denied").stand_in(" ".join(words[: match.start].split()[-2:])):
            return match
    return None


def _audit(named: str, name: str, said: Signs) -> str | None:
    """The kind of accounts by whether they are audited; None if nothing shows it."""
    if marks("audit", "negative").stand_in(named) or said.audit == "negative":
        return _UNAUDITED
    claims = any(match.kind.id == _AUDITED for match in find_kinds(name))
    claims = claims or marks("", "audited").stand_in(f"{named} {said.line}")
    return _AUDITED if said.audit in {"opinion", "claim"} or claims else None


def _state(name: str, folder: str, said: Signs, kind: Kind | None, *, is_picture: bool) -> str | None:
    named = find_state(name) or (find_state(folder) if folder else None)
    if named is not None:
        return named
    if said.state is None and said.blank_signatures and kind is not None and kind.signed and not is_picture:
        return "unsigned"
    return "draft" if said.state is None and said.unfilled and kind is not None and kind.title else said.state


def parse_asked_kind(asked: str) -> tuple[Kind | None, list[str]]:
    """The kind that a user asks for, and other words that the document must contain; None if no kind is named."""
    words = plain_words(asked)
    left_out = set(read_file("marks.toml")["asked"]["left_out"])
    best = max(
        (match for match in find_kinds(words) if match.kind.title and not match.weak),
        key=lambda match: match.end - match.start,
        default=None,
    )
    if best is None:
        return None, []
    rest = [word for word in f"{words[: best.start]} {words[best.end :]}".split() if word not in left_out]
    return best.kind, rest


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
    if _on_other_days(one, other) and (kind.serial if kind is not None else _name_other_years(one, other)):
        return True
    words, others = set(_base(one.name).split()), set(_base(other.name).split())
    return kind is not None and kind.signed and bool(words - others) and bool(others - words)


def _on_other_days(one: FamilyMember, other: FamilyMember) -> bool:
    return None not in {one.what.date, other.what.date} and one.what.date != other.what.date


def _name_other_years(one: FamilyMember, other: FamilyMember) -> bool:
    """Whether two names have other years, as those of reports of two years have."""
    years, others = (set(_YEAR.findall(member.name)) for member in (one, other))
    return bool(years and others) and years.isdisjoint(others)


def _are_versions(one: FamilyMember, other: FamilyMember) -> bool:
    kind = kinds().get(one.what.kind or other.what.kind or "")
    if one.what.kind != other.what.kind and one.what.kind and other.what.kind:
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
    near = resemblance(front.sketch, member.sketch) >= _NEAR
    return (
        FamilyTie.NEAR_COPY
        if near and front.what.state == member.what.state and _base(front.name) != _base(member.name)
        else FamilyTie.VERSION
    )


class Listed(Protocol):
    """What the kind of a document in a room or run depends on."""

    @property
    def document_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...


class IndexedDocument(NamedTuple):
    """A document of a folder that was listed."""

    document_id: str
    name: str
    path: str


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
                FamilyMember(name, row.name, self.kinds[name], self.contents.get(name), self.sketches.get(name, b""))
                for name, row in self.documents.items()
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
                    read_signs(text.text, text.places).as_json(),
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
    shared = _share_kinds(room.families)
    return replace(room, kinds=whats | shared) if shared else room  # to find families takes .24 ms a document


def _share_kinds(families: Iterable[Family]) -> dict[str, DocumentKind]:
    """What documents are of which their copies tell a kind and they do not, where all of these tell the same."""
    shared: dict[str, DocumentKind] = {}
    for family in families:
        members = [family.front, *(member for member, _ in family.others)]
        told = [member for member in members if member.what.kind][:_MOST_LEADERS]
        for member in members if told else ():
            if member.what.kind is not None or member.what.speaks_of:
                continue
            alike = [other.what for other in told if _is_copy(member, other)]
            if len({what.kind for what in alike}) == 1:
                shared[member.id] = replace(member.what, kind=alike[0].kind, certainty=alike[0].certainty)
    return shared


def _is_copy(one: FamilyMember, other: FamilyMember) -> bool:
    is_same = one.content is not None and one.content == other.content
    return is_same or resemblance(one.sketch, other.sketch) >= _NEAR


def run_kinds(documents: Sequence[RunDocument], *, find: bool = True, is_final: bool = False) -> RoomKinds:
    """`room_kinds` of a company's documents in a run; `is_final`: it has ended, so that nothing more is found."""
    rows = tuple(
        (row.document_id, row.name, row.path, row.text_id if row.characters else None, row.content_hash)
        for row in documents
    )
    return _final_kinds(rows) if is_final else _kinds(rows, find=find)


def _kinds(rows: Sequence[tuple[str, str, str, int | None, str | None]], *, find: bool) -> RoomKinds:
    texts = {name: text_id for name, _, _, text_id, _ in rows if text_id is not None}
    contents = {name: content for name, _, _, _, content in rows}
    return room_kinds([IndexedDocument(*row[:3]) for row in rows], texts, contents, find=find)


@lru_cache(maxsize=2)
def _final_kinds(rows: tuple[tuple[str, str, str, int | None, str | None], ...]) -> RoomKinds:
    return _kinds(rows, find=False)


def find_company_kinds(company_id: int) -> None:
    """Find what the texts of a company in a run show about its documents, if that is not stored yet."""
    with database.reading() as session:
        documents = company_documents(session, company_id)
    find_text_signs(row.text_id for row in documents if row.text_id is not None and row.characters)
