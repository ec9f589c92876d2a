"""The words of drawings: paragraphs and tables where they stand, charts and diagrams in parts of their own.

Scanned as bytes, in the form that `canonical` gives: one pattern runs over them at 300 MB/s, and never past
the next `<`. What is rare, formulas, is cut out and given to lxml.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tasks.documents.extract.office import charts, formulas, markup
from tasks.documents.extract.office.package import Package
from tasks.documents.extract.reading import one_line
from tasks.errors import TooLarge

_RUNS: Final = re.compile(
    rb"<(?:/a:(p|tc|tr)\s*>|a:(?:t(?:>|\s[^<>]*+(?<!/)>)([^<]++)|(br|tc(?=[\s/][^<>]*+(?<=/)>)))|m:oMath[\s>])"
)
"""The end of a paragraph, cell or row; the words of a run; a line break or an empty cell; a formula."""

_PARAGRAPH, _CELL, _ROW = "\0", "\1", "\2"
_IN_SHAPE: Final = {b"p": b"\0", b"br": b"\n", b"tc": b"", b"tr": b""}
_IN_TABLE: Final = {b"p": b"\0", b"br": b"\n", b"tc": b"\1", b"tr": b"\2"}
"""What an end stands for while the words are put together: characters that XML cannot hold."""

_FORMULA: Final = re.compile(rb"<m:oMath(?:\s[^<>]*+)?(?<!/)>")
_FORMULA_END: Final = re.compile(rb"</m:oMath\s*+>|(?=</?a:p[\s>])")
_LARGE: Final = 1 << 20
"""From this size on, in bytes, what is found in a shape is counted while it is taken."""

_MOST_RUNS: Final = 2_000_000
_MOST_WORDS: Final = 32 << 20
_MOST_FORMULAS: Final = 10_000
"""The most runs, bytes of text and formulas that one shape, table or diagram may hold."""

_TOO_MUCH: Final = "One shape holds more text than can be read. Split the document."
_LARGEST_CHART: Final = 32 << 20
"""Of a larger chart, in bytes, the rest is left out as though it were lost."""

_MOST_REPEATED: Final = 16 << 20
"""The most characters of drawings that are written again where several slides show the same one."""


def paragraphs(data: bytes, start: int = 0, end: int | None = None) -> list[str]:
    r"""The paragraphs that have words between `start` and `end` of a part, in order; line breaks as `\n`.

    Raises:
        TooLarge: there are too many of them.
    """
    words = _words(data, start, end, _IN_SHAPE)
    return [line.strip("\r\n") for line in words.split(_PARAGRAPH) if line.strip()]


def table(data: bytes, start: int = 0, end: int | None = None) -> list[str]:
    """The rows of the table between `start` and `end` of a part, cells split by tabs; empty rows are left out.

    Raises:
        TooLarge: there are too many of them.
    """
    words = _words(data, start, end, _IN_TABLE).replace(_PARAGRAPH, " ")
    rows = ["\t".join(map(one_line, row.split(_CELL))).rstrip("\t") for row in words.split(_ROW)]
    return [row for row in rows if row]


def _words(data: bytes, start: int, end: int | None, marks: Mapping[bytes, bytes]) -> str:
    end = len(data) if end is None else end
    found = _RUNS.findall(data, start, end) if end - start < _LARGE else _counted(data, start, end)
    try:
        pieces = [run or marks[ending or empty] for ending, run, empty in found]
    except KeyError:  # there is a formula
        return _words(_with_formulas(data[start:end]), 0, None, {**marks, b"": b""})
    return markup.unescaped(b"".join(pieces).decode("utf-8", "replace"))


def _counted(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, ...]]:
    """What `_RUNS` finds, as long as it stays within what may be in one shape."""
    size = 0
    for count, match in enumerate(_RUNS.finditer(data, start, end)):
        groups = match.groups(b"")
        size += len(groups[1])
        if count > _MOST_RUNS or size > _MOST_WORDS:
            raise TooLarge(_TOO_MUCH)
        yield groups


def _with_formulas(data: bytes) -> bytes:
    """Put a run of words in the place of each formula."""
    kept: list[bytes] = []
    at = 0
    for count, formula in enumerate(_FORMULA.finditer(data)):
        if count > _MOST_FORMULAS:
            raise TooLarge(_TOO_MUCH)
        if formula.start() < at:
            continue
        end = _FORMULA_END.search(data, formula.end())
        behind = end.end() if end is not None else len(data)
        words = b"".join(formulas.shaped(data, formula.start(), behind))
        kept += data[at : formula.start()], b"<a:t>", words.replace(b"<", b"&lt;"), b"</a:t>"
        at = behind
    return b"".join([*kept, data[at:]])


class Drawings:
    """The charts and diagrams of a package that stand in parts of their own, each read once."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._targets: dict[str, dict[str, str]] = {}
        self._lines: dict[str, list[str]] = {}
        self._repeated = 0

    def lines(self, source: str, relationship_id: str) -> list[str]:
        """The lines of the drawing to which the part `source` refers by that id; none when there is none."""
        if source not in self._targets:
            self._targets[source] = {item.id: item.target for item in self._package.relationships(source)}
        target = self._targets[source].get(relationship_id, "")
        if target not in self._lines:
            self._lines[target] = self._read(target)
            return self._lines[target]
        self._repeated += sum(map(len, self._lines[target]))
        return self._lines[target] if self._repeated < _MOST_REPEATED else []

    def _read(self, name: str) -> list[str]:
        data = self._package.scan(name)
        if len(data) > _LARGEST_CHART:
            self._package.note_damage()
            data = data[:_LARGEST_CHART]
        lines = paragraphs(data)
        if data.startswith(b"<dgm:"):
            return lines
        lines += charts.values(data)
        if b"<c:userShapes" in data:
            for item in self._package.relationships(name):
                if item.kind == "chartUserShapes":
                    lines += paragraphs(self._package.scan(item.target))
        return lines
