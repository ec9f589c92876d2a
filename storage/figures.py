"""Figures: the numbers found in texts and what they mean, stored for each text and version of the ledger."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import JSON, Column, ColumnElement, Text, and_, delete, insert, not_, or_
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, col

from storage.columns import find_rows, find_table, in_parts, put_rows, row_values

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
