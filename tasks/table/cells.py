"""The cells of a table, by text: found once, verified, and stored with the text."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from storage import database
from storage.scores import Absence
from storage.tables import find_cells, save_cells
from storage.texts import find_texts, group_sizes, text_sizes
from tasks.code_version import code_version
from tasks.language.quotations import verify
from tasks.table.clauses import FINDERS, Contract
from tasks.table.columns import Column, ColumnSet

_FEW: Final = 3
"""Cells from which on a document of no known kind is taken for an agreement."""


def columns_version(columns: Sequence[Column]) -> str:
    """A hash of what is looked for, and of the program that looks for it."""
    found = sorted({column.find for column in columns if column.find})
    return hashlib.sha256(f"{code_version('tasks.table')} {found}".encode()).hexdigest()[:24]


def read_cells(text: str, columns: Iterable[Column]) -> dict[str, Any]:
    """The cells of a text by column: `value`, `absence`, `sure` and `spans`, where the words stand that say so.

    A value of which a quotation cannot be verified is none. Of a column that only a model could fill, there is no cell.
    """
    contract = Contract(text)
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


def find_text_cells(text_ids: Iterable[int], columns: ColumnSet, *, find: bool = True) -> dict[int, dict[str, Any]]:
    """The cells of these texts, by text; those that are not stored are found now (unless not `find`), and stored."""
    ids, version = sorted(set(text_ids)), columns_version(columns.columns)
    by_finder = [Column(id=name).model_copy(update={"find": name}) for name in sorted(_finders(columns))]
    with database.reading() as session:
        stored = find_cells(session, ids, version)
        sizes = text_sizes(session, [text_id for text_id in ids if text_id not in stored]) if find else {}
    for group in group_sizes(sizes):
        with database.reading() as session:
            new = {
                text.id: read_cells(text.text, by_finder) for text in find_texts(session, group) if text.id is not None
            }
        with database.writing() as session:
            save_cells(session, version, new)
        stored |= new
    return stored


def _finders(columns: ColumnSet) -> set[str]:
    return {column.find for column in columns.columns if column.find is not None and column.find in FINDERS}


def is_row(columns: ColumnSet, kind: str | None, cells: Mapping[str, Any] | None) -> bool:
    """Whether a document is a row: it is of the kinds, or of no known one and says much of what is looked for."""
    takes = columns.takes(kind)
    if takes is None:
        return cells is not None and sum(cell["value"] is not None for cell in cells.values()) >= _FEW
    return takes
