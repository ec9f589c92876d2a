"""Columns of tables of documents and questions: the sets that come with the program, and those in a user's file."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict

from tasks.documents.kinds.catalogue import is_kind, kinds
from tasks.errors import BadRequest
from tasks.user_file import Line, UserFile, nearest

ColumnType = Literal["text", "names", "date", "duration", "money", "percent", "choice", "yes_no"]
_SIGNED: Final = "*signed"


class Column(BaseModel):
    """A column. `find` names what fills it without a model; for columns that nothing fills, a model is asked."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Line
    title: Line = ""
    type: ColumnType = "text"
    ask: Line | None = None
    find: Line | None = None
    choices: list[Line] | None = None


class ColumnSet(BaseModel):
    """Columns, and the kinds of documents that are rows; None for all documents with words."""

    model_config = ConfigDict(frozen=True)

    columns: list[Column]
    kinds: list[str] | None = None

    def takes(self, kind: str | None) -> bool | None:
        """Whether a document of this kind is a row; None if its kind does not tell."""
        if self.kinds is None:
            return True
        if kind is None:
            return None
        return any(kinds()[kind].signed if wanted == _SIGNED else is_kind(kind, wanted) for wanted in self.kinds)


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


@cache
def known_column(name: str) -> Column | None:
    """The column of that id that comes with the program."""
    entry = _data()["columns"].get(name)
    return Column(id=name, find=name, **entry) if entry else None


def set_names() -> list[str]:
    """The sets that come with the program."""
    return list(_data()["sets"])


def named_set(name: str) -> ColumnSet:
    """A set that comes with the program."""
    titles = _data()["titles"].get(name, {})
    known = [column for column in map(known_column, _data()["sets"][name]) if column is not None]
    columns = [column.model_copy(update={"title": titles.get(column.id, column.title)}) for column in known]
    return ColumnSet(columns=columns, kinds=_data()[name]["kinds"])


def read_columns(named: str, beside: Path | None = None) -> ColumnSet:
    """The set of that name, otherwise the columns in that file, whose path is relative to the folder `beside`.

    Raises:
        BadRequest: there is neither, or the file has mistakes, each named with line, field and what is allowed.
    """
    if named in set_names():
        return named_set(named)
    path = (beside or Path()) / named
    if not path.is_file():
        raise BadRequest(f"There is no file {named}, and no set of columns of that name: {', '.join(set_names())}.")
    return _read_file(path)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    columns: list[Any]
    kinds: list[Line] | None = None


def _read_file(path: Path) -> ColumnSet:
    file = UserFile(path, "column file")
    written = file.fit(_File, file.content)
    columns: dict[str, Column] = {}
    for index, entry in enumerate(written.columns if written else ()):
        at = ("columns", index)
        known = known_column(entry) if isinstance(entry, str) else None
        column = known if isinstance(entry, str) else file.fit(Column, entry, at)
        if isinstance(entry, str) and known is None:
            file.mistake(at, f"there is no column {entry!r} in the program{nearest(entry, _data()['columns'])}")
        if column is None:
            continue
        if column.id in columns:
            file.mistake((*at, "id"), f"{column.id!r} stands twice")
        columns[column.id] = _checked(file, at, column) if known is None else column
    if written is not None and not written.columns:
        file.mistake(("columns",), "it is empty: list at least one, such as governing_law or {id: scope, ask: …}")
    for index, kind in enumerate((written.kinds if written else None) or ()):
        if kind not in kinds():
            file.mistake(("kinds", index), f"there is no kind of document {kind!r}{nearest(kind, kinds())}")
    file.mistakes.check()
    return ColumnSet(columns=list(columns.values()), kinds=written.kinds if written else None)


def _checked(file: UserFile, at: tuple[str | int, ...], column: Column) -> Column:
    """A column from a user's file, completed with what the program knows about it; mistakes are recorded."""
    find = column.find or (column.id if known_column(column.id) and column.ask is None else None)
    known = known_column(find) if find else None
    if find and known is None:
        file.mistake((*at, "find"), f"nothing finds {find!r}{nearest(find, _data()['columns'])}")
    elif known is None and column.ask is None:
        file.mistake(at, "needs ask, the question, or find, the name of what fills it")
    if column.type == "choice" and not column.choices and (known is None or known.type != "choice"):
        file.mistake((*at, "choices"), "it is missing: list what may be chosen")
    if column.type not in get_args(ColumnType):
        return column
    changes: dict[str, Any] = {"find": find, "title": column.title or column.id.replace("_", " ").capitalize()}
    if known is not None:
        changes |= {"type": known.type, "choices": known.choices, "ask": column.ask or known.ask}
    return column.model_copy(update=changes)
