"""Which documents of a room answer which items of a request list, and whether completely.

An item and a document are compared by the kinds that they name, by the words of the document's name, folder and
opening, by their years, and by the numbers of the room's folders and files if these follow the list.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from math import log, sqrt
from pathlib import PurePath
from typing import Final

from tasks.documents.kinds.catalogue import Kind, Phrases, find_kind, find_kinds, is_kind, kinds, plain_words, read_file
from tasks.documents.kinds.room import Listed, RoomKinds
from tasks.documents.kinds.signs import find_state
from tasks.language.words import months, tokens
from tasks.requests.request_list import Request, plain_number, read_words

OPENING: Final = 1500
"""Characters at the beginning of a text that say what the document is."""
_TITLE: Final = 300
_LINE: Final = 80
_GOES_ON: Final = re.compile(r"[,;] [^\W\dA-Z]|[.;:,]$")
"""What a longer line below the first has that is running text and no title."""
_SURE: Final = 0.5
"""The least score with which a document answers an item."""
_WORDS: Final = 0.42
"""The least share of words in common that is enough where no kind is."""
_NEAR: Final = 0.3
"""The certainty of a document that only shares a rare word with an item."""
_RARE: Final = 3
"""The most kinds that have a rare word in their names."""
_NUMBERING: Final = 0.4
"""The share of documents whose words bear their numbers out, from which on the room goes by the list's numbers."""
_NAME_NUMBER: Final = re.compile(
    r"\s*(?:(?:nr|no|item|req|request|q)[ ._-]*)?"
    r"([A-Za-z]{0,4}[-. ]?\d{1,3}(?:[.\-_]\d{1,3})*|[A-Z](?:[.\-_]\d{1,3})+)(?=[\s._)\-–:]|$)",
    re.IGNORECASE,
)
_YEAR: Final = r"(?:19[89]\d|20[0-4]\d)"
_SPAN: Final = re.compile(
    rf"({_YEAR}|FY ?'?\d\d)(?!\d)\s*(?:-|–|—|to|bis|until|through|à|a|al|t/m)\s*((?:FY)? ?(?:{_YEAR}|'?\d\d))(?![\d-])",
    re.IGNORECASE,
)
_ONE_YEAR: Final = re.compile(rf"(?<!\d)({_YEAR})(?!\d)|\bFY ?'?(\d\d)(?!\d)", re.IGNORECASE)
_DAY: Final = re.compile(
    rf"\b\d{{1,2}}[./-]\d{{1,2}}[./-]{_YEAR}|{_YEAR}[-_.]?[01]\d[-_.]?[0-3]\d(?!\d)"
    rf"|\b\d{{1,2}}\.? [A-Za-zäéû]{{3,9}},? {_YEAR}|\b[A-Z][a-z]{{2,8}} \d{{1,2}},? {_YEAR}"
)
_PARTS: Final = re.compile(
    r"\b(?:part|teil|partie|parte|deel|vol|volume) ?(\d{1,2})(?: ?(?:of|von|sur|de|di|van) ?(\d{1,2}))?\b"
)
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_INITIALS: Final = re.compile(r"\b(\w) ?& ?(\w)\b")
_NEVER: Final = frozenset({"placeholder", "request_list"})
"""What says that a document is wanted or to come is not that document."""
_CREDIT_FOR_KIND: Final = 0.6


class RequestStatus(StrEnum):
    """The outcome of an item; `unexpected` is a document that answers none."""

    RECEIVED = "received"
    PARTLY = "partly"
    MISSING = "missing"
    UNEXPECTED = "unexpected"


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """An item and the documents that answer it, or a document that answers none. `sure` is 0 to 1; `why` explains
    `partly`.
    """

    request: Request | None
    status: RequestStatus
    documents: tuple[Listed, ...] = ()
    sure: float | None = None
    why: str | None = None


@cache
def _phrases(name: str) -> Phrases:
    return Phrases((phrase, True) for phrase in read_words("matching.toml")[name])


@cache
def _asked_names() -> Phrases:
    """The names that requests use for kinds, beside those in the catalogue."""
    names = read_words("matching.toml")["kinds"].items()
    return Phrases((phrase, kinds()[kind]) for kind, phrases in names for phrase in phrases)


@cache
def _vocabulary() -> frozenset[str]:
    """The words in the names of kinds: none of them is the name of a person, place or company."""
    lists = [entry.get(key, ()) for entry in read_file("catalogue.toml").values() for key in ("names", "weak", "body")]
    lists += read_words("matching.toml")["kinds"].values()
    words = [phrase.replace("*", "") for phrases in lists for phrase in phrases]
    return frozenset(tokens(" ".join([*words, *months()])))


@cache
def _kinds_by_term() -> Counter[str]:
    """For each word, how many kinds of documents have it in one of their names."""
    asked = read_words("matching.toml")["kinds"]
    return Counter(
        term
        for name, entry in read_file("catalogue.toml").items()
        for term in set(tokens(" ".join([*entry.get("names", ()), *asked.get(name, ())]).replace("*", "")))
    )


@cache
def _left_out() -> frozenset[str]:
    words = [*read_words("matching.toml")["left_out"], *read_file("marks.toml")["asked"]["left_out"]]
    return frozenset(token for word in words for token in tokens(plain_words(word)))


def _terms(text: str) -> frozenset[str]:
    """The words of a text that say what it is about; `D&O` and `R&D` are one word."""
    return frozenset(
        token
        for token in tokens(plain_words(_INITIALS.sub(r"\1\2", text)))
        if token not in _left_out() and not token.isdigit() and len(token) > 1
    )


def find_years(text: str) -> frozenset[int]:
    """The years that a text names, including those between the ends of a range."""
    years: set[int] = set()
    for match in _SPAN.finditer(text):
        first, last = (_full_year(end) for end in match.groups())
        if first <= last <= first + 30:
            years |= set(range(first, last + 1))
    years |= {_full_year(match[0]) for match in _ONE_YEAR.finditer(text)}
    return frozenset(years)


def _full_year(written: str) -> int:
    digits = re.sub(r"\D", "", written)
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


@cache
def _counted() -> re.Pattern[str]:
    said = read_words("matching.toml")["years"]
    number = rf"(\d{{1,2}}|{'|'.join(said['numbers'])})(?: \d{{1,2}})?"
    before, behind = ("|".join(sorted(said[side], key=len, reverse=True)) for side in ("before", "behind"))
    return re.compile(
        rf"\b(?:{before}) {number} (?:\w+ )?(?:{behind})\b|\b{number} (?:derniers|dernieres|letzte|last) (?:{behind})\b"
    )


def count_years(text: str) -> int:
    """How many of the last years a text asks for; 0 if it does not say."""
    match = _counted().search(plain_words(text))
    if match is None:
        return 0
    number = match[1] or match[2]
    return int(number) if number.isdigit() else int(read_words("matching.toml")["years"]["numbers"][number])


@dataclass
class _Item:
    """An item in the list: the kinds and words that it names, and the years that it asks for.

    `siblings` are the items of the same kind, or of a wider or narrower one; `own_terms` are the words that no other
    item has.
    """

    request: Request
    siblings: list["_Item"] = field(default_factory=list)
    own_terms: frozenset[str] = frozenset()

    @cached_property
    def words(self) -> str:
        return plain_words(self.request.item)

    @cached_property
    def kinds(self) -> list[Kind]:
        one_each = re.sub(r"(?<=\w{3})s\b", "", self.words)
        named = [match.kind for words in (self.words, one_each) for match in find_kinds(words) if not match.weak]
        named += [kind for _, _, kind in _asked_names().find(self.words)]
        found = {kind.id: kind for kind in named if kind.title}
        return [kind for kind in found.values() if not any(other.wider == kind.id for other in found.values())]

    @cached_property
    def terms(self) -> frozenset[str]:
        return _terms(self.request.item)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of persons, places and companies that distinguish the item from others of its kind."""
        words = [(match[0], self.request.item[match.end() :][:1]) for match in _WORD.finditer(self.request.item)]
        capitals = [
            word
            for place, (word, behind) in enumerate(words)
            if word[0].isupper()
            and not (word.isupper() and 1 < len(word) < 6)
            and behind != "."
            and (place or behind in {":", ","} or (words[1:2] and words[1][0][0].isupper()))
        ]
        is_prose = sum(word.islower() for word, _ in words) >= len(capitals)
        if not is_prose and len(self.siblings) < 2:
            return frozenset()
        named = frozenset(token for word in capitals for token in tokens(plain_words(word)))
        return (named & self.terms & self.own_terms) - _vocabulary()

    @cached_property
    def years(self) -> frozenset[int]:
        return find_years(_DAY.sub(" ", self.request.item))


@dataclass
class _Document:
    """A document, or a family of copies and versions represented by its front: what may show which item it answers."""

    row: Listed
    members: list[Listed]
    opening: str
    room: RoomKinds

    @cached_property
    def stem(self) -> str:
        return PurePath(self.row.name).stem if "." in self.row.name else self.row.name

    @cached_property
    def folder(self) -> str:
        return self.row.path.rsplit("/", 1)[-1]

    @cached_property
    def name_terms(self) -> frozenset[str]:
        return _terms(self.stem)

    @cached_property
    def title_terms(self) -> frozenset[str]:
        first, *others = [line for line in self.opening[:_TITLE].splitlines() if line.strip()][:3] or [""]
        titles = (line for line in others if len(line) <= _LINE or not _GOES_ON.search(line.strip()))
        return _terms(" ".join(line[:120] for line in (first, *titles)))

    @cached_property
    def all_terms(self) -> frozenset[str]:
        return self.name_terms | _terms(self.folder) | _terms(self.opening)

    @cached_property
    def years(self) -> frozenset[int]:
        """The years in its name, otherwise in its folder's name or its title; empty if none has any."""
        title = self.opening[:_TITLE]
        for text in (self.stem, _DAY.sub(" ", self.folder), title):
            if years := find_years(text):
                return years
        return frozenset()

    def is_for_other_years(self, item: _Item) -> bool:
        return bool(item.years and self.years) and item.years.isdisjoint(self.years)

    @cached_property
    def numbers(self) -> list[str]:
        """The numbers that it may have in the list, closest first: its own, its folders', and these joined."""
        own = [
            match[1] if (match := _NAME_NUMBER.match(part)) else None for part in (*self.row.path.split("/"), self.stem)
        ]
        plain = [plain_number(number) for number in own if number]
        found = plain[::-1]
        found += [".".join(plain[start:]) for start in range(len(plain) - 1)]
        split = [number.split(".") for number in found]
        return list(dict.fromkeys(".".join(parts[:end]) for parts in split for end in range(len(parts), 0, -1)))

    @cached_property
    def over(self) -> str | None:
        """The kind of a document that is only about other documents, such as a request, an index or a letter; else
        None.
        """
        what = self.room.kinds[self.row.document_id]
        if not what.speaks_of or what.kind is not None:
            return None
        match, signs = find_kind(plain_words(self.stem)), self.room.signs.get(self.row.document_id)
        return match.kind.id if match and match.kind.over else (signs.title if signs and signs.title else "about")


def _by_kind(items: Sequence[_Item]) -> dict[str, list[_Item]]:
    by_kind: dict[str, list[_Item]] = defaultdict(list)
    for item in items:
        for kind in item.kinds:
            by_kind[kind.id].append(item)
    return by_kind


def _read_items(requests: Sequence[Request]) -> list[_Item]:
    """The items, each with the others that name its kind, or a wider or narrower one."""
    items = [_Item(request) for request in requests]
    by_kind, counts = _by_kind(items), Counter(term for item in items for term in item.terms)
    for item in items:
        alike = {
            id(other): other
            for kind in item.kinds
            for name, others in by_kind.items()
            if is_kind(name, kind.id) or is_kind(kind.id, name)
            for other in others
            if other is not item
        }
        item.siblings = list(alike.values())
        item.own_terms = frozenset(term for term in item.terms if counts[term] == 1)
    return items


class _Matching:
    """Matches the items of a list with the documents of a room."""

    def __init__(self, items: Sequence[_Item], documents: Sequence[_Document]) -> None:
        self.items, self.documents = items, documents
        self._by_kind = _by_kind(items)
        counts = Counter(term for item in self.items for term in item.terms)
        self._weights = {term: log(1 + len(self.items) / count) for term, count in counts.items()}
        self._by_term: dict[str, list[_Item]] = defaultdict(list)
        for item in self.items:
            for term in item.terms:
                self._by_term[term].append(item)
        self._by_number: dict[str, list[_Item]] = defaultdict(list)
        for item in self.items:
            self._by_number[plain_number(item.request.number)].append(item)
        self._goes_by_numbers = self._is_numbered()

    def _weight(self, terms: frozenset[str]) -> float:
        return sum(self._weights.get(term, 0.0) for term in terms)

    def _likeness(self, item: _Item, terms: frozenset[str]) -> float:
        """How far the words of an item match those of a name or title, from 0 to 1.

        A single word in common says nothing where the name has others, and the item has others or names a kind:
        "customer pipeline" answers no request for customer contracts.
        """
        shared = item.terms & terms
        if len(shared) < 2 and shared != terms and (shared != item.terms or item.kinds):
            return 0.0
        both, whole, own = self._weight(shared), self._weight(item.terms), self._weight(terms)
        return sqrt(both / whole * both / own) if both else 0.0

    def _score(self, item: _Item, document: _Document) -> float:
        """How well a document answers an item: 0 or less for not at all, 1 or more for certainly."""
        if document.over in _NEVER or document.is_for_other_years(item):
            return 0.0
        kind = _kind_share(item, document)
        words = max(
            self._likeness(item, document.name_terms),
            0.9 * self._likeness(item, document.title_terms),
            0.8 * self._likeness(item, document.name_terms | _terms(document.folder)),
        )
        within = self._weight(item.terms & document.all_terms) / (self._weight(item.terms) or 1.0)
        if item.names and not item.names & document.all_terms:
            return 0.3 * words  # another of its kind is meant
        if item.names:
            kind = max(kind, 0.0)
            if item.names & (document.name_terms | document.title_terms):
                words = max(words, 0.55)
        if kind <= 0 and words < (_WORDS if document.over is None else 1.3 * _WORDS):
            return 0.3 * words
        return _CREDIT_FOR_KIND * kind + 0.7 * words + 0.3 * within + (0.1 if item.names else 0.0)

    def _candidates(self, document: _Document) -> list[_Item]:
        what = document.room.kinds[document.row.document_id]
        found: dict[int, _Item] = {}
        held = [what.kind, *(kind for kind, _ in what.also), document.over]
        for kind_id, items in self._by_kind.items():
            if any(name and (is_kind(name, kind_id) or is_kind(kind_id, name)) for name in held) or any(
                what.kind in kind.lesser for item in items[:1] for kind in item.kinds if kind.id == kind_id
            ):
                found |= {id(item): item for item in items}
        for term in document.name_terms | document.title_terms | _terms(document.folder):
            found |= {id(item): item for item in self._by_term.get(term, ())}
        return list(found.values())

    def _numbered(self, document: _Document) -> list[_Item]:
        """The items that a document's number may refer to."""
        return next((self._by_number[number] for number in document.numbers if number in self._by_number), [])

    def _is_numbered(self) -> bool:
        borne_out = [
            max(self._score(item, document) for item in items) >= _SURE
            for document in self.documents
            if (items := self._numbered(document)) and document.over not in _NEVER
        ]
        return len(borne_out) >= 2 and sum(borne_out) >= _NUMBERING * len(borne_out)

    def answers(self) -> dict[int, list[tuple[_Document, float]]]:
        """The documents that answer items, each with how certain that is, by the item's index in the list."""
        places = {id(item): place for place, item in enumerate(self.items)}
        found: dict[int, list[tuple[_Document, float]]] = defaultdict(list)
        for document in self.documents:
            for item, score in self._best(document):
                found[places[id(item)]].append((document, round(min(score, 1.0), 2)))
        return found

    def _best(self, document: _Document) -> list[tuple[_Item, float]]:
        scored = [(item, self._score(item, document)) for item in self._candidates(document)]
        best = max((score for _, score in scored), default=0.0)
        if self._goes_by_numbers and document.over not in _NEVER and (items := self._numbered(document)):
            own = max(((item, self._score(item, document)) for item in items), key=lambda pair: pair[1])
            if own[1] >= best - 0.5 and not document.is_for_other_years(own[0]):
                return [(own[0], max(own[1], 0.8))]
        if best < _SURE:
            return []
        return [(item, score) for item, score in scored if score == best][:1]


def _kind_share(item: _Item, document: _Document) -> float:
    """1 for a document of a kind that the item names, less for one that contains or stands in for it, below 0 for
    another kind.
    """
    what = document.room.kinds[document.row.document_id]
    if not item.kinds or what.kind is None:
        return 0.0
    if any(what.kind == kind.id for kind in item.kinds):
        return 1.0
    if any(what.holds(kind.id) is not None for kind in item.kinds):
        return 0.9
    if any(what.kind in kind.lesser or is_kind(kind.id, what.kind) for kind in item.kinds):
        return 0.6
    return -0.4


def match_requests(requests: Sequence[Request], room: RoomKinds, openings: Mapping[str, str]) -> list[RequestOutcome]:
    """What a room has of a request list: the items in the list's order, then the documents that answer none.

    Args:
        requests: the items.
        room: what the documents of the room are.
        openings: the first `OPENING` characters of their texts, by document; of those without text none.
    """
    items = _read_items(requests)
    names = frozenset[str]().union(*(item.names for item in items))
    documents = [
        _Document(rows[0], rows, openings.get(rows[0].document_id, ""), room) for rows in _groups(room, openings, names)
    ]
    matching = _Matching(items, documents)
    answers = matching.answers()
    matched = {document.row.document_id for pairs in answers.values() for document, _ in pairs}
    nearest = _find_nearest(
        [item for place, item in enumerate(items) if not answers.get(place)],
        [document for document in documents if document.row.document_id not in matched],
        documents,
    )
    outcomes = [nearest.get(id(item)) or _outcome(item, answers.get(place, [])) for place, item in enumerate(items)]
    answered = {row.document_id for outcome in outcomes for row in outcome.documents}
    unexpected = [
        RequestOutcome(None, RequestStatus.UNEXPECTED, tuple(document.members))
        for document in documents
        if document.row.document_id not in answered
    ]
    return [*outcomes, *unexpected]


def _find_nearest(
    missing: Sequence[_Item], left: Sequence[_Document], documents: Sequence[_Document]
) -> dict[int, RequestOutcome]:
    """By item the only document whose name is for half a rare word of it: too little to answer it, but to be looked at.

    Of an agreement a word says nothing: "customer pipeline" is no customer contract.
    """
    counts = Counter(term for document in documents for term in document.name_terms)
    found: dict[int, RequestOutcome] = {}
    for item in (item for item in missing if not any(kind.signed for kind in item.kinds)):
        rare = {term for term in item.own_terms if counts[term] == 1 and _kinds_by_term()[term] <= _RARE}
        half = [one for one in left if len(rare & one.name_terms) >= len(one.name_terms) / 2 > 0]
        near = [
            one for one in half if one.over is None and _kind_share(item, one) >= 0 and not one.is_for_other_years(item)
        ]
        if len(near) == 1:
            rows = tuple(near[0].members)
            found[id(item)] = RequestOutcome(item.request, RequestStatus.PARTLY, rows, _NEAR, "only a word in common")
    return found


def _groups(room: RoomKinds, openings: Mapping[str, str], names: frozenset[str]) -> list[list[Listed]]:
    """The documents of a room, with copies and versions grouped together and the front first.

    Documents of other years are kept apart, and so are those that contain other `names` from the list's items.
    """
    groups: dict[tuple[str, frozenset[str]], dict[frozenset[int], list[Listed]]] = {}
    fronts = {member.id: family.front.id for family in room.families for member, _ in family.others}
    for name, row in room.documents.items():
        years = find_years(_DAY.sub(" ", PurePath(row.name).stem))
        named = names & (_terms(row.name) | _terms(openings.get(name, "")))
        apart = groups.setdefault((fronts.get(name, name), named), {})
        same = next((rows for known, rows in apart.items() if not known or not years or known & years), None)
        if same is None:
            apart[years] = [row]
        elif name in fronts:
            same.append(row)
        else:
            same.insert(0, row)
    return [rows for apart in groups.values() for rows in apart.values()]


def _outcome(item: _Item, found: Sequence[tuple[_Document, float]]) -> RequestOutcome:
    if not found:
        return RequestOutcome(item.request, RequestStatus.MISSING)
    reasons = {document.row.document_id: _why_partly(item, document) for document, _ in found}
    whole = [document for document, _ in found if reasons[document.row.document_id] is None]
    parts = [document for document, _ in found if reasons[document.row.document_id] == _PART]
    if parts and not whole and _is_complete(parts):
        whole = parts
    why = None if whole else reasons[max(found, key=lambda pair: pair[1])[0].row.document_id]
    if whole:
        why = _missing_years(item, whole)
    rows = tuple(row for document, _ in found for row in document.members)
    sure = max(score for _, score in found)
    return RequestOutcome(item.request, RequestStatus.PARTLY if why else RequestStatus.RECEIVED, rows, sure, why)


_PART: Final = "only a part"
_STATES: Final = {
    "draft": "only a draft",
    "unsigned": "only an unsigned copy",
    "template": "only a template",
    "superseded": "only a version that is no longer in force",
}


def _why_partly(item: _Item, document: _Document) -> str | None:
    """Why a document answers an item only in part; None if it answers it in full."""
    states = {document.room.kinds[row.document_id].state for row in document.members}
    what = document.room.kinds[document.row.document_id]
    asked = item.words
    is_asked = what.state in {find_state(asked), *asked.split()} or "form" in asked.split()
    if what.state in _STATES and "signed" not in states and not is_asked:
        is_signed_kind = any(kind.signed for kind in item.kinds) or not item.kinds
        if what.state != "unsigned" or is_signed_kind:
            return _STATES[what.state]
    title = plain_words(f"{document.stem} {document.opening[:120]}")
    says_part = _phrases("part")
    whole = f"{asked} {plain_words(what.title or '')}"  # an extract from a register is no part of one
    if _PARTS.search(title) or (says_part.stand_in(title) and not says_part.stand_in(whole)):
        return _PART
    lesser = any(what.kind in kind.lesser for kind in item.kinds)
    return "only a document of another kind" if lesser and _kind_share(item, document) < 1 else None


def _is_complete(parts: Sequence[_Document]) -> bool:
    """Whether all parts of a document are there: part 1 of 2 and part 2 of 2."""
    found = [match for part in parts if (match := _PARTS.search(plain_words(f"{part.stem} {part.opening[:120]}")))]
    totals = {int(match[2]) for match in found if match[2]}
    return len(totals) == 1 and {int(match[1]) for match in found} >= set(range(1, totals.pop() + 1))


def _missing_years(item: _Item, whole: Sequence[_Document]) -> str | None:
    """The years that an item asks for and that are missing; None if none are, or if the years are unknown."""
    known = frozenset[int]().union(*(document.years for document in whole))
    if any(not document.years for document in whole):
        return None
    last = count_years(item.request.item)
    wanted = item.years or frozenset(range(max(known) - last + 1, max(known) + 1))
    missing = sorted(wanted - known)
    return f"without {', '.join(map(str, missing))}" if missing else None
