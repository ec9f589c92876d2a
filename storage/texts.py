"""Texts, keyed by the content they were read from and the reader that read it, and what is derived from them once.

That is their passages; what they show about the kinds of their documents, by one version of the catalogue; the cells of
tables of documents and questions, by set of columns; and their figures, by version of the ledger. Scanned pages that
text recognition has read are stored one by one, by content, page and engine.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import JSON, Column, ColumnElement, Text, and_, bindparam, delete, func, insert, not_, or_, update
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import (
    UtcDateTime,
    find_rows,
    find_table,
    in_parts,
    now,
    put,
    put_new_rows,
    put_rows,
    row_values,
    string_enum,
)
from storage.documents import Content, RunDocument
from storage.runs import RunCompany


class Outcome(StrEnum):
    """How reading a content ended for good: reading it again would end the same way."""

    READ = "read"
    EMPTY = "empty"
    FAILED = "failed"


class StoredText(SQLModel, table=True):
    """The text of one content, read by one version of a reader.

    `places` lists the parts of the text and where they come from: [start, end, kind, label], offsets in characters.
    `problem` is the problem type of a failed reading, `detail` its sentence. `scanned_pages` are the pages that need
    text recognition, `pages_read` those that have been read in whatever way.
    """

    __tablename__ = "texts"
    __table_args__ = (UniqueConstraint("content_hash", "reader"),)

    id: int | None = Field(default=None, primary_key=True)
    content_hash: str
    reader: str
    outcome: Outcome = Field(sa_type=string_enum(Outcome))
    problem: str | None = None
    detail: str | None = None
    text: str = Field(default="", sa_column=Column(Text, nullable=False))
    places: list[tuple[int, int, str, str]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    warnings: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    characters: int = 0
    cutter: str | None = None
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    pages: int | None = None
    pages_read: int | None = None
    scanned_pages: int = 0


class Passage(SQLModel, table=True):
    """A piece of a text, about a paragraph long, that knows its place. Offsets are in characters of the text.

    `header` is the first row of the table that the passage continues. `orders` is no longer written: orders to a model
    are looked for in the passages that are judged.
    """

    __tablename__ = "passages"

    id: int | None = Field(default=None, primary_key=True)
    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", index=True)
    ordinal: int
    start: int
    end: int
    place: str
    heading: str | None = None
    header: str | None = None
    orders: list[tuple[int, int]] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))


class NewSigns(NamedTuple):
    """What a version of the catalogue found in one text: the columns of `StoredSigns`."""

    version: str
    signs: dict[str, Any]
    sketch: bytes


@dataclass(frozen=True, slots=True, eq=False)
class NewText:
    """A text to be stored: the values of a `StoredText`, which takes twenty times as long to create (0.1 ms).

    `signs` are what it shows about the kind of its document, if that was looked for when it was read.
    """

    content_hash: str
    reader: str
    outcome: Outcome
    problem: str | None = None
    detail: str | None = None
    text: str = ""
    places: Sequence[tuple[int, int, str, str]] = ()
    warnings: Sequence[str] = ()
    characters: int = 0
    cutter: str | None = None
    created_at: datetime = field(default_factory=now)
    pages: int | None = None
    pages_read: int | None = None
    scanned_pages: int = 0
    signs: NewSigns | None = None


class TextSummary(NamedTuple):
    """What is known about a text, without the text itself."""

    id: int
    content_hash: str
    reader: str
    outcome: Outcome
    problem: str | None
    detail: str | None
    warnings: list[str]
    characters: int
    created_at: datetime
    pages: int | None
    pages_read: int | None
    scanned_pages: int


def find_text(session: Session, content_hash: str, *readers: str) -> StoredText | None:
    """The text of that content from the first of these readers that has read it."""
    texts = session.exec(
        select(StoredText).where(StoredText.content_hash == content_hash, col(StoredText.reader).in_(readers))
    )
    return min(texts, key=lambda text: readers.index(text.reader), default=None)


def delete_failures(session: Session, content_hashes: Sequence[str], failed: Sequence[str]) -> None:
    """Delete the record that these contents, or pages of them, could not be read; `failed`: as of `scans_done`."""
    for some in in_parts(content_hashes):
        session.exec(
            delete(StoredText).where(col(StoredText.outcome) == Outcome.FAILED, col(StoredText.content_hash).in_(some))
        )
        was_failed = or_(*(col(StoredPage.packed).startswith(beginning) for beginning in failed))
        session.exec(delete(StoredPage).where(was_failed, col(StoredPage.content_hash).in_(some)))


_LOADED_AT_ONCE = 2_000_000  # characters of texts, with their places ten times as many bytes
_TEXTS_AT_ONCE = 200
_texts = find_table(StoredText)
_COLUMNS = tuple(column.key for column in _texts.columns if column.key != "id")
_SUMMARIES = sql_select(*(_texts.c[name] for name in TextSummary._fields))


def find_current_text(
    session: Session, drive: str, document_id: str, version: str, readers: Sequence[str]
) -> StoredText | None:
    """The text of a document whose content at this version is known, from the first of these
    readers that has read it.
    """
    texts = session.exec(
        select(StoredText)
        .join(Content, col(Content.content_hash) == col(StoredText.content_hash))
        .where(
            Content.drive == drive,
            Content.document_id == document_id,
            Content.version == version,
            col(StoredText.reader).in_(readers),
        )
    )
    return min(texts, key=lambda text: readers.index(text.reader), default=None)


def find_summaries(session: Session, content_hashes: Sequence[str]) -> dict[tuple[str, str], TextSummary]:
    """What is known about the texts of these contents, by (content hash, reader)."""
    rows = find_rows(session, _SUMMARIES, _texts.c.content_hash, content_hashes)
    return {(row.content_hash, row.reader): TextSummary._make(row) for row in rows}


def save_texts(session: Session, new: Iterable[NewText | StoredText]) -> dict[tuple[str, str], TextSummary]:
    """Store texts; if another process has already stored a reading of the same content, that one stays.

    Returns what is stored for these contents, by (content hash, reader).
    """
    # In one order for all who write, so that none waits for a row that another one waits with.
    texts = sorted(new, key=lambda text: (text.content_hash, text.reader))
    rows = [{name: getattr(text, name) for name in _COLUMNS} for text in texts]
    put_new_rows(session, StoredText, rows, "content_hash", "reader")
    stored = find_summaries(session, [text.content_hash for text in texts])
    signed = {
        stored[text.content_hash, text.reader].id: text.signs
        for text in texts
        if isinstance(text, NewText) and text.signs is not None
    }
    save_signs(session, signed)
    return stored


def save_text(session: Session, new: NewText | StoredText) -> TextSummary:
    """Store one text as `save_texts` does; returns what is stored."""
    return save_texts(session, [new])[new.content_hash, new.reader]


def contents_with_text(session: Session, hashes: Sequence[str], without: Collection[int] = ()) -> set[str]:
    """Those of these contents (a few hundred at most) that have a text other than the texts with the ids `without`."""
    gone = set(without)
    rows = session.exec(select(StoredText.id, StoredText.content_hash).where(col(StoredText.content_hash).in_(hashes)))
    return {content_hash for text_id, content_hash in rows if text_id not in gone}


def get_text(session: Session, text_id: int) -> StoredText:
    """The text of that id: a plain row for reading only, as `find_texts`."""
    return cast("StoredText", session.connection().execute(_texts.select().where(_texts.c.id == text_id)).one())


def load_places(session: Session, text_id: int) -> Sequence[tuple[int, int, str, str]]:
    """The places of a text, without its words."""
    places: Sequence[tuple[int, int, str, str]]
    places = session.connection().execute(_PLACES, {"text_id": text_id}).scalar_one()
    return places


_PLACES: Final = sql_select(_texts.c.places).where(_texts.c.id == bindparam("text_id"))
_STRETCH: Final = sql_select(func.substr(_texts.c.text, bindparam("first"), bindparam("count"))).where(
    _texts.c.id == bindparam("text_id")
)
"""Built once: for each of thousands of quotations that takes longer than the database."""


def find_stretch(session: Session, text_id: int, start: int, end: int) -> str:
    """The characters of a text from `start` to `end`, counted as Python does; "" if the text does not exist."""
    where = {"text_id": text_id, "first": start + 1, "count": end - start}
    return session.connection().execute(_STRETCH, where).scalar() or ""


def find_openings(session: Session, text_ids: Sequence[int], characters: int) -> dict[int, str]:
    """The first characters of these texts, by id; texts that no longer exist are left out."""
    openings = sql_select(_texts.c.id, func.substr(_texts.c.text, 1, characters))
    return {row[0]: row[1] for row in find_rows(session, openings, _texts.c.id, text_ids)}


def text_sizes(session: Session, text_ids: Sequence[int]) -> dict[int, int]:
    """The lengths of these texts in characters, by id, in the given order; texts that no longer exist are left out."""
    rows = find_rows(session, sql_select(_texts.c.id, _texts.c.characters), _texts.c.id, text_ids)
    sizes = {row.id: row.characters for row in rows}
    return {text_id: sizes[text_id] for text_id in text_ids if text_id in sizes}


def group_sizes(
    sizes: Mapping[int, int], most: int = _LOADED_AT_ONCE, count: int = _TEXTS_AT_ONCE
) -> Iterator[list[int]]:
    """The ids of texts in groups to be loaded together: at most `count`, with `sizes` of at most `most` in all."""
    group: list[int] = []
    characters = 0
    for text_id, size in sizes.items():
        if group and (characters + size > most or len(group) == count):
            yield group
            group, characters = [], 0
        group.append(text_id)
        characters += size
    if group:
        yield group


def load_readers(session: Session, text_ids: Sequence[int]) -> dict[int, str]:
    """The reader of each of these texts, by id."""
    rows = find_rows(session, sql_select(_texts.c.id, _texts.c.reader), _texts.c.id, text_ids)
    return {row.id: row.reader for row in rows}


def load_words(session: Session, text_ids: Sequence[int]) -> list[tuple[int, str]]:
    """The ids and words of those of these texts (a few hundred at most) that exist, in the order of their ids."""
    query = sql_select(_texts.c.id, _texts.c.text).where(_texts.c.id.in_(text_ids)).order_by(_texts.c.id)
    return list(session.connection().execute(query).tuples())


def find_texts(session: Session, text_ids: Sequence[int]) -> Sequence[StoredText]:
    """The texts of these ids (a few hundred at most), in the order of their ids: plain rows for reading only."""
    rows = session.connection().execute(_texts.select().where(_texts.c.id.in_(text_ids)).order_by(_texts.c.id))
    return [cast("StoredText", row) for row in rows]


def find_passages(session: Session, text_ids: Sequence[int], cutter: str) -> dict[int, list[Passage]]:
    """The passages that this cutter has cut from these texts (a few hundred at most), in order, by text id.

    They are plain rows for reading only: the session's objects take five times as long.
    """
    connection, passages = session.connection(), find_table(Passage)
    cut = sql_select(_texts.c.id).where(_texts.c.id.in_(text_ids), _texts.c.cutter == cutter)
    by_text: dict[int, list[Passage]] = {text_id: [] for text_id in connection.execute(cut).scalars()}
    rows = sql_select(passages).where(passages.c.text_id.in_(by_text)).order_by(passages.c.text_id, passages.c.ordinal)
    for row in connection.execute(rows) if by_text else ():
        by_text[row.text_id].append(cast("Passage", row))
    return by_text


_PASSAGE: Final = ("start", "end", "place", "heading", "header")


def save_passages(session: Session, cutter: str, passages: Mapping[int, Sequence[Passage]]) -> None:
    """Store the passages that `cutter` has cut, by text id, in place of those that their texts had."""
    text_ids = sorted(passages)
    if not text_ids:
        return
    # First the texts' own rows, so that whoever cuts the same text waits here and then finds these passages.
    connection, table = session.connection(), find_table(Passage)
    connection.execute(update(_texts).where(_texts.c.id.in_(text_ids)).values(cutter=cutter))
    connection.execute(delete(table).where(table.c.text_id.in_(text_ids)))
    rows = [
        {"text_id": text_id, "ordinal": ordinal} | {name: getattr(passage, name) for name in _PASSAGE}
        for text_id in text_ids
        for ordinal, passage in enumerate(sorted(passages[text_id], key=attrgetter("start")))
    ]
    if rows:
        connection.execute(insert(table), rows)


class SpanPages(SQLModel, table=True):
    """The pages that a span of a text is on, and its boxes there.

    `pages` lists {page (from 1), width, height, boxes: [[left, top, right, bottom]]}: points from the upper left corner
    of the page as it is shown, one box a line; without boxes the place on that page is not certain.
    """

    __tablename__ = "span_pages"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    start: int = Field(primary_key=True)
    end: int = Field(primary_key=True)
    pages: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))


def save_span_pages(session: Session, spans: Iterable[SpanPages]) -> None:
    """Store where spans are on their pages, in place of what was known."""
    for span in spans:
        put(session, span, "text_id", "start", "end")


def find_span_pages(session: Session, text_ids: Iterable[int]) -> dict[tuple[int, int, int], list[dict[str, Any]]]:
    """The pages of all spans of these texts that have been located, by text id, start and end."""
    rows = find_rows(session, find_table(SpanPages).select(), col(SpanPages.text_id), text_ids)
    return {(row.text_id, row.start, row.end): row.pages for row in rows}


class StoredSigns(SQLModel, table=True):
    """What one text shows: `signs` in the form that `tasks.documents.kinds.signs` writes, `sketch` its mark for near
    copies.
    """

    __tablename__ = "text_signs"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    version: str
    signs: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    sketch: bytes = b""


_signs = find_table(StoredSigns)


def find_signs(session: Session, text_ids: Iterable[int], version: str) -> dict[int, tuple[dict[str, Any], bytes]]:
    """What that version found in these texts, signs and sketch, by text id; texts it has not looked at are left out."""
    of_version = _signs.select().where(_signs.c.version == version)
    rows = find_rows(session, of_version, _signs.c.text_id, text_ids)
    return {row.text_id: (row.signs, row.sketch) for row in rows}


def save_signs(session: Session, signs: Mapping[int, NewSigns]) -> None:
    """Store what was found in texts, by text id, in place of what an earlier version found."""
    rows = [{"text_id": text_id, **signs[text_id]._asdict()} for text_id in sorted(signs)]
    put_rows(session, StoredSigns, rows, "text_id")


class StoredCells(SQLModel, table=True):
    """What one text says: `cells` by column id; `columns` is a hash of the columns and of the program."""

    __tablename__ = "text_cells"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    columns: str = Field(primary_key=True)
    cells: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def find_cells(session: Session, text_ids: Sequence[int], columns: str) -> dict[int, dict[str, Any]]:
    """The stored cells of these texts, by text id."""
    of_columns = find_table(StoredCells).select().where(col(StoredCells.columns) == columns)
    return {row.text_id: row.cells for row in find_rows(session, of_columns, col(StoredCells.text_id), text_ids)}


def save_cells(session: Session, columns: str, cells: Mapping[int, dict[str, Any]]) -> None:
    """Store the cells of texts in place of earlier ones."""
    rows = [{"text_id": text_id, "columns": columns, "cells": found} for text_id, found in sorted(cells.items())]
    put_rows(session, StoredCells, rows, "text_id", "columns")


class StoredPage(SQLModel, table=True):
    """A page in the form that `tasks.reading.ocr.page` packs it.

    `page` is its label in the text: its number, followed by the attachment's hash for a page in an attachment.
    `seconds` is the time limit that applied: a page that ran into it is tried again once the limit is raised.
    """

    __tablename__ = "recognised_pages"

    content_hash: str = Field(primary_key=True)
    page: str = Field(primary_key=True)
    engine: str = Field(primary_key=True)
    seconds: float
    packed: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def save_page(session: Session, page: StoredPage) -> None:
    """Store a page in place of an earlier attempt."""
    put(session, page, "content_hash", "page", "engine")


def find_pages(session: Session, content_hash: str) -> Sequence[StoredPage]:
    """The pages of a content that any engine has read."""
    return session.exec(select(StoredPage).where(StoredPage.content_hash == content_hash)).all()


def count_pages_since(session: Session, moment: datetime) -> int:
    """How many pages were recognised since that moment."""
    return session.exec(select(func.count()).where(col(StoredPage.created_at) >= moment)).one()


def scans_done(session: Session, run_id: str, failed: Sequence[str]) -> dict[int, tuple[int, int]]:
    """How many scanned pages of each company of a run have been recognised, and how many there are, by company id.

    `failed`: how the packed pages begin that could not be read.
    """
    documents = (
        select(RunDocument.company_id, RunDocument.content_hash, StoredText.scanned_pages)
        .join(RunCompany)
        .join(StoredText, col(StoredText.id) == col(RunDocument.text_id))
        .where(RunCompany.run_id == run_id, StoredText.scanned_pages > 0)
        .subquery()
    )
    done = (
        select(StoredPage.content_hash, func.count(func.distinct(StoredPage.page)).label("pages"))
        .where(*(~col(StoredPage.packed).startswith(beginning) for beginning in failed))
        .group_by(col(StoredPage.content_hash))
        .subquery()
    )
    rows = session.exec(
        select(documents.c.company_id, func.coalesce(func.sum(done.c.pages), 0), func.sum(documents.c.scanned_pages))
        .join_from(documents, done, documents.c.content_hash == done.c.content_hash, isouter=True)
        .group_by(documents.c.company_id)
    )
    return {company_id: (min(read, total), total) for company_id, read, total in rows}


def delete_pages_without_text(session: Session) -> None:
    """Delete the pages of contents whose text is no longer stored."""
    session.exec(delete(StoredPage).where(col(StoredPage.content_hash).not_in(select(StoredText.content_hash))))


CUT_OFF: Final = "!"
"""In the version of a ledger whose text was not looked through: behind it are the limits that it exceeded."""


class StoredLedger(SQLModel, table=True):
    """What one version of the ledger found in one text: how many figures, what was left out and why, what does not add
    up.

    `basis` is the basis of figures for which no word gives one, `deck` whether the text is a presentation, `dated` the
    document's own date (ISO) according to its text and first name, `changed` the day on which its file says it was last
    changed, `company` the company that it names as its own. `left_out` counts numbers by reason; `ties` are sums that
    do not add up.
    """

    __tablename__ = "ledgers"

    id: int | None = Field(default=None, primary_key=True)
    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", unique=True)
    version: str
    basis: str
    deck: bool = False
    dated: str | None = None
    changed: str | None = None
    company: str | None = None
    left_out: dict[str, int] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    ties: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))


class StoredFigure(SQLModel, table=True):
    """One figure of a text. `value` and `step` are decimals stored as text, so that they stay exact in every database.

    `start` and `end` are the number's offsets in the text; `basis` is null where only the document's kind tells it.
    """

    __tablename__ = "figures"

    id: int | None = Field(default=None, primary_key=True)
    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", index=True)
    concept: str
    label: str = Field(sa_column=Column(Text, nullable=False))
    value: str
    unit: str
    scale: str
    step: str
    period: str
    entity: str | None = None
    basis: str | None = None
    variant: str = ""
    place: str = Field(sa_column=Column(Text, nullable=False))
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NewLedger:
    """A ledger to be stored, with the columns of its figures except `text_id`."""

    ledger: StoredLedger
    figures: Sequence[dict[str, Any]] = field(default_factory=list)


class TextLedger(NamedTuple):
    """The ledger of one text with its figures in the text's order."""

    ledger: StoredLedger
    figures: Sequence[StoredFigure]


def texts_without_ledger(
    session: Session, text_ids: Iterable[int], version: str, within: str = CUT_OFF, *, any_addition: bool = False
) -> list[int]:
    """Those of the texts that this version has neither looked through nor tried to within these limits.

    With `any_addition`, what a user's file added to the version's concepts (the part after a +) is ignored.
    """
    of_version: ColumnElement[bool] = col(StoredLedger.version).in_([version, version + within])
    if any_addition:
        added = col(StoredLedger.version).startswith(f"{version}+", autoescape=True)
        tried = or_(
            not_(col(StoredLedger.version).contains(CUT_OFF)),
            col(StoredLedger.version).endswith(within, autoescape=True),
        )
        of_version = or_(of_version, and_(added, tried))
    ids = sorted(set(text_ids))
    text_id = col(StoredLedger.text_id)
    known = {row.text_id for row in find_rows(session, sql_select(text_id).where(of_version), text_id, ids)}
    return [text_id for text_id in ids if text_id not in known]


def cut_off_ledgers(session: Session, text_ids: Iterable[int]) -> dict[int, str]:
    """Those of these texts that could not be looked through, by id, and why."""
    cut_off = find_table(StoredLedger).select().where(col(StoredLedger.version).contains(CUT_OFF))
    rows = find_rows(session, cut_off, col(StoredLedger.text_id), text_ids)
    return dict(sorted((row.text_id, next(iter(row.left_out))) for row in rows))


def save_ledgers(session: Session, new: Sequence[NewLedger]) -> None:
    """Store these ledgers in place of the earlier ones of their texts."""
    new = sorted(new, key=lambda ledger: ledger.ledger.text_id)  # in one order for all who write
    put_rows(session, StoredLedger, [row_values(ledger.ledger) for ledger in new], "text_id")
    table, connection = find_table(StoredFigure), session.connection()
    for text_ids in in_parts(ledger.ledger.text_id for ledger in new):
        connection.execute(delete(table).where(table.c.text_id.in_(text_ids)))
    rows = [{"text_id": ledger.ledger.text_id, **row} for ledger in new for row in ledger.figures]
    if rows:
        connection.execute(insert(table), rows)


def find_ledgers(session: Session, text_ids: Iterable[int]) -> dict[int, TextLedger]:
    """The ledgers of texts, by text id.

    They are plain rows for reading only: the session's objects take five times as long.
    """
    ids = set(text_ids)
    of_texts, of_figures = find_table(StoredLedger), find_table(StoredFigure)
    chosen = of_figures.select().order_by(of_figures.c.text_id, of_figures.c.start, of_figures.c.id)
    figures: dict[int, list[StoredFigure]] = {}
    for row in find_rows(session, chosen, of_figures.c.text_id, ids):
        figures.setdefault(row.text_id, []).append(cast("StoredFigure", row))
    return {
        row.text_id: TextLedger(cast("StoredLedger", row), figures.get(row.text_id, []))
        for row in find_rows(session, of_texts.select(), of_texts.c.text_id, ids)
    }
