"""The kinds of a room's documents, their families, and what they cite and the room has not.

What each text tells is found once and stored with it. Names, folders and families take 0.2 ms a document: those of a
run that has ended are remembered by the process that looked at them last.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol

from storage import database
from storage.run_documents import RunDocument, company_documents
from storage.texts import NewSigns, find_signs, find_texts, group_sizes, save_signs, text_sizes
from tasks.documents.kinds.catalogue import is_kind, kinds, plain_words
from tasks.documents.kinds.families import Family, FamilyMember, find_families
from tasks.documents.kinds.kind import DocumentKind, document_kind
from tasks.documents.kinds.signs import Signs, read_signs, signs_version, sketch


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
    return RoomKinds({row.document_id: row for row in documents}, whats, signs, sketches, contents)


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
