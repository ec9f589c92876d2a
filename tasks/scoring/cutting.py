"""A stored text's passages: cut, looked through for orders to a model, and kept for that version of the text."""

from bisect import bisect_left
from typing import NamedTuple

from storage import database, texts
from storage.texts import Passage, StoredText
from tasks.ai import orders
from tasks.scoring.passages import CUTTER, Piece, cut

CUT_BY = f"{CUTTER} {orders.VERSION}"  # what kept passages were cut and looked through by


class Cut(NamedTuple):
    """A text's passages: those for people, and those that give orders to a model."""

    pieces: list[Piece]
    orders: list[Piece]


def passages_of(text_id: int, known: dict[str, str]) -> tuple[str, Cut]:
    """A text with its passages, cut and kept when they were not before. `known` holds each place's words once."""
    with database.reading() as session:
        text = texts.get_text(session, text_id)
        kept = texts.find_passages(session, text_id, CUT_BY)
    if kept is None:
        kept = _cut_anew(text)
        with database.writing() as session:
            texts.save_passages(session, text_id, CUT_BY, kept)
    found = Cut([], [])
    for passage in kept:
        (found.orders if passage.gives_orders else found.pieces).append(_piece(passage, known))
    return text.text, found


def _cut_anew(text: StoredText) -> list[Passage]:
    assert text.id is not None
    given = orders.find_orders(text.text)
    begins = [order.start for order in given]
    pieces = cut(text.text, text.places)
    # The parts of a table carry its first row along: what stands there must not come back with every one of them.
    headers = {header: orders.without_orders(header)[0] for header in {piece.header or "" for piece in pieces}}
    return [
        Passage(
            text_id=text.id,
            ordinal=ordinal,
            start=piece.start,
            end=piece.end,
            place=piece.place,
            heading=piece.heading,
            header=headers[piece.header or ""] or None,
            gives_orders=any(order.end > piece.start for order in given[: bisect_left(begins, piece.end)]),
        )
        for ordinal, piece in enumerate(pieces)
    ]


def _piece(passage: Passage, known: dict[str, str]) -> Piece:
    heading, header = (
        None if each is None else known.setdefault(each, each) for each in (passage.heading, passage.header)
    )
    return Piece(passage.start, passage.end, known.setdefault(passage.place, passage.place), heading, header)
