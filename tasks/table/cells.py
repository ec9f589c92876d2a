"""The cells of a table by text: found once, verified, and stored with the text."""

import hashlib
import time
from collections.abc import Iterable, Mapping
from functools import cache
from math import inf
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from storage import database
from storage.scores import Absence
from storage.texts import find_cells, find_texts, group_sizes, save_cells, text_sizes
from tasks.code_version import code_version
from tasks.documents.kinds.room import RoomKinds
from tasks.language.quotations import verify
from tasks.reading.places import shown_text
from tasks.table.clauses import FINDERS
from tasks.table.columns import Column, ColumnSet
from tasks.table.contract import Contract

_FEW: Final = 3
"""Cells from which on a document of no known kind is taken for an agreement."""


@cache
def _version() -> str:
    """A hash of the code that finds cells: cells stored by an earlier version are found again."""
    return hashlib.sha256(code_version("tasks.table").encode()).hexdigest()[:24]


def read_cells(text: str, columns: Iterable[Column]) -> dict[str, Any]:
    """The cells of a text by column: `value`, `absence`, `sure`, and `spans`, the words that say so.

    Values whose quotation cannot be verified are dropped. Columns that only a model could fill have no cell.
    """
    contract = Contract(text, FINDERS)
    cells: dict[str, Any] = {}
    for column in columns:
        if column.find is None:
            continue
        found = contract.find(column.find)
        if found is None or not all(verify(text[span.start : span.end], text) for span in found.spans):
            cells[column.id] = {"value": None, "absence": Absence.SILENT.value, "sure": 0.0, "spans": []}
            continue
        cells[column.id] = {
            "value": found.value,
            "absence": found.absence.value if found.absence else None,
            "sure": found.sure,
            "spans": [list(span) for span in found.spans],
        }
    return cells


def find_text_cells(text_ids: Iterable[int], columns: ColumnSet, *, seconds: float = inf) -> dict[int, dict[str, Any]]:
    """The cells of these texts, by text id; those that are not stored are found now, in this order, and stored.

    Everything that can be found in a text is found at once, ready for another set of columns. After so many `seconds`
    of work no other text is looked at, but one is in any case unless `seconds` is 0 or less: those that are left have
    no cells.
    """
    ids, version = list(dict.fromkeys(text_ids)), _version()
    everything = [Column(id=name).model_copy(update={"find": name}) for name in FINDERS]
    with database.reading() as session:
        stored = find_cells(session, ids, version)
        sizes = text_sizes(session, [text_id for text_id in ids if text_id not in stored])
    until = time.thread_time() + seconds  # to look up what is stored may take longer in a large room
    is_first = seconds > 0
    for group in group_sizes(sizes):
        if not is_first and time.thread_time() >= until:
            break
        new: dict[int, dict[str, Any]] = {}
        with database.reading() as session:
            texts = {text.id: text for text in find_texts(session, group)}
            for text_id in (text_id for text_id in group if text_id in texts):
                if is_first or time.thread_time() < until:
                    is_first, text = False, texts[text_id]
                    new[text_id] = read_cells(shown_text(text.text, text.places), everything)
        with database.writing() as session:
            save_cells(session, version, new)
        stored |= new
    wanted = {column.find for column in columns.columns if column.find is not None} & FINDERS.keys()
    return {text_id: {name: cells[name] for name in wanted} for text_id, cells in stored.items()}


class ChosenRows(NamedTuple):
    """The documents of a room that are rows, in order, what their texts state, and how many texts are left to look at.

    A document of no known kind whose text is left is not a row yet.
    """

    documents: list[str]
    cells: dict[int, dict[str, Any]]
    left: int


_chosen: Final[WeakKeyDictionary[RoomKinds, dict[str, ChosenRows]]] = WeakKeyDictionary()
"""By the room and the columns what was chosen: a run that has ended has the same rows for each who looks at it."""


def choose_rows(
    columns: ColumnSet,
    room: RoomKinds,
    texts: Mapping[str, int],
    *,
    first: Iterable[str] = (),
    seconds: float = inf,
) -> ChosenRows:
    """The rows of a room, found within so many seconds, the documents in `first` before all others.

    The other arguments are as in `build_table`.

    A document is a row if it is of the wanted kinds, or of no known kind and says much of what is looked for.
    """
    remembered, key = _chosen.setdefault(room, {}), columns.model_dump_json()
    if key in remembered:
        return remembered[key]
    takes = {name: columns.takes(room.kinds[name].kind) for name in room.documents}
    sure, perhaps = ([texts[name] for name in texts if takes.get(name) is is_row] for is_row in (True, None))
    ahead = [texts[name] for name in first if name in texts and takes.get(name, False) is not False]
    cells = find_text_cells([*ahead, *sure, *perhaps], columns, seconds=seconds)

    def is_row(name: str) -> bool:
        if (taken := takes[name]) is not None:
            return taken
        stated = cells.get(texts.get(name, -1), {})
        return sum(cell["value"] is not None for cell in stated.values()) >= _FEW

    chosen = list(filter(is_row, room.documents))
    of_rows = {texts[name] for name in chosen if name in texts}
    left = len({*sure, *perhaps} - cells.keys())
    rows = ChosenRows(chosen, {text_id: found for text_id, found in cells.items() if text_id in of_rows}, left)
    if not left:
        remembered[key] = rows
    return rows
