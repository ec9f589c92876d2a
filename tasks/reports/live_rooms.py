"""Searching and questioning the rooms of a run in the service: in the texts that the run read and
the viewer may see.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final
from urllib.parse import quote

from storage import database
from storage.run_documents import DocumentStatus, RunDocument
from storage.runs import RunCompany
from tasks.documents.kinds.room import run_kinds
from tasks.errors import NotFound
from tasks.figures.ledger import LedgerText
from tasks.language.sentences import sentences
from tasks.language.tokens import tokens
from tasks.ranking.semantic import EmbeddingSettings
from tasks.reports.company import side_of
from tasks.reports.evidence_links import make_anchor
from tasks.reports.live import LiveRun, live_run
from tasks.reports.live_review import seen_companies
from tasks.rooms.passages import RoomPassages
from tasks.rooms.question import RoomAnswer, ask_room

_HITS: Final = 30
_LISTED: Final = 500
_WORD: Final = re.compile(r"\w+(?:[.'’-]\w+)*")


@dataclass(frozen=True)
class Filters:
    """What to search: a company by its domain, documents of a kind, in a folder, with an outcome; "" for all."""

    company: str = ""
    kind: str = ""
    folder: str = ""
    status: str = ""

    def take(self, *has: str) -> bool:
        """Whether a document with these properties, in this order, is searched."""
        return all(wanted in {"", one} for wanted, one in zip(astuple(self), has, strict=True))


@dataclass(frozen=True)
class ShownDocument:
    """A document of a room in a list of results; `address` is relative to the run's folder."""

    company: str
    name: str
    path: str
    kind: str
    status: str
    warning: str | None
    address: str


@dataclass(frozen=True)
class FoundPassage:
    """A passage that a search found: its words in pieces, each with whether it was searched for.

    No piece is marked if it was only found by meaning.
    """

    document: ShownDocument
    place: str
    pieces: Sequence[tuple[str, bool]]
    address: str


@dataclass
class RoomSearch:
    """What a search found, and how it can be narrowed."""

    run_id: str
    batch: str
    companies: list[tuple[str, str]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    hits: list[FoundPassage] = field(default_factory=list)
    documents: list[ShownDocument] = field(default_factory=list)
    count: int = 0
    warning: str | None = None


@dataclass(frozen=True)
class Asked:
    """The answer from one company's room; each quotation with its address, relative to the run's folder."""

    name: str
    answer: RoomAnswer
    addresses: Sequence[str]


def search(run_id: str, words: str, filters: Filters) -> RoomSearch:
    """The passages with these words, best first; without words, the documents that the filters leave.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        found = RoomSearch(live.run.id, live.run.batch)
        folders: set[str] = set()
        texts: dict[str, tuple[ShownDocument, LedgerText]] = {}
        rooms = _rooms(live)
        for company, documents in rooms:
            found.companies.append((company.domain, company.name))
            kinds = run_kinds(documents, find=False, is_final=live.run.reported_at is not None)
            for row in documents:
                what = kinds.row(row.document_id)
                found.kinds |= {what["kind"]: what["kind_title"]} if what["kind"] else {}
                folders.add(row.path)
                if not filters.take(company.domain, what["kind"] or "", row.path, row.status.value):
                    continue
                shown = ShownDocument(
                    *(company.name, row.name, row.path, what["kind_title"] or "", row.status.value, row.warning),
                    address=f"documents/{quote(row.document_id, safe='')}" if row.text_id else "",
                )
                found.count += 1
                if row.text_id is not None and row.characters:
                    texts[row.document_id] = (shown, _text(row))
                if not words.strip() and len(found.documents) < _LISTED:
                    found.documents.append(shown)
        found.folders = sorted(folders - {""})
        found.kinds = dict(sorted(found.kinds.items(), key=lambda item: item[1]))
        if words.strip() and texts:
            above = tuple(company.folder for company, _ in rooms)
            room = _passages(tuple(text for _, text in texts.values()), above, EmbeddingSettings.current())
            found.hits = list(islice(_hits(room, words, texts), _HITS))
            found.warning = room.warning
        return found


def _hits(
    room: RoomPassages, words: str, texts: Mapping[str, tuple[ShownDocument, LedgerText]]
) -> Iterator[FoundPassage]:
    """The passages of these documents that have any of the words, or their meaning if that is searched."""
    for passage in room.likeliest(words, 2 * _HITS, 2 * _HITS):
        pieces = _pieces(passage.text, words)
        if any(is_word for _, is_word in pieces) or room.ranks_by_meaning:
            document = texts[passage.document.document_id][0]
            address = document_address(passage.document.document_id, passage.span.start, passage.span.end)
            yield FoundPassage(document, passage.span.place, pieces, address)


def ask(run_id: str, question: str, domains: Sequence[str]) -> tuple[str, str, list[Asked], list[tuple[str, str]]]:
    """The answers to a question from the rooms of these companies, or of all: the run's id, its batch, the answers, all
    companies.

    Raises:
        BadRequest, DiligenceError: as `ask_room`.
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        rooms = _rooms(live)
        answers = []
        for company, documents in rooms:
            if question.strip() and (not domains or company.domain in domains):
                texts = tuple(_text(row) for row in documents if row.text_id is not None and row.characters)
                passages = _passages(texts, (company.folder,), EmbeddingSettings.current())
                read = {text.document_id for text in texts}
                unread = [row.name for row in documents if row.document_id not in read or row.pages != row.pages_read]
                answer = ask_room(question, passages, company.name, unread)
                addresses = [document_address(quoted.document_id, quoted.start, quoted.end) for quoted in answer.quotes]
                answers.append(Asked(company.name, answer, addresses))
        return live.run.id, live.run.batch, answers, [(company.domain, company.name) for company, _ in rooms]


@lru_cache(maxsize=8)  # a second question of a room finds it ready, in the same process
def _passages(texts: tuple[LedgerText, ...], above: tuple[str, ...], _settings: EmbeddingSettings) -> RoomPassages:
    return RoomPassages(texts, above, by_meaning=True)


def _rooms(live: LiveRun) -> list[tuple[RunCompany, Sequence[RunDocument]]]:
    """The companies that the viewer sees, each with the documents that the viewer sees.

    Raises:
        NotFound: the viewer sees none of them.
    """
    visible = seen_companies(live)
    if not visible:
        raise NotFound("The run has no company that is shared with your account.")
    with database.reading() as session:
        return [(row, side_of(session, live.run, row, seen).documents) for row, seen in visible]


def _text(row: RunDocument) -> LedgerText:
    return LedgerText(row.text_id or 0, row.document_id, row.name, row.path, row.updated)


def _pieces(text: str, words: str) -> list[tuple[str, bool]]:
    """The sentences of a passage with most of the words, in pieces; its first sentences if it has none of them."""
    wanted = set(tokens(words))
    best = sorted(sentences(text), key=lambda one: -len(wanted & set(tokens(one))))[:2]
    shown = " … ".join([one for one in best if wanted & set(tokens(one))] or best)[:600]
    pieces: list[tuple[str, bool]] = []
    last = 0
    for match in _WORD.finditer(shown):
        if wanted & set(tokens(match[0])):
            pieces += [(shown[last : match.start()], False), (match[0], True)]
            last = match.end()
    return [*pieces, (shown[last:], False)]


def document_address(document_id: str, start: int | None, end: int | None) -> str:
    """The address of a span of a document's text, relative to the run's folder."""
    place = "" if start is None or end is None else f"?start={start}&end={end}#{make_anchor(start, end)}"
    return f"documents/{quote(document_id, safe='')}{place}"


STATUSES: Final = [status.value for status in DocumentStatus if status is not DocumentStatus.PENDING]
