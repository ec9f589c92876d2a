"""Values separated by commas, semicolons, tabs or bars (.csv, .tsv): one row a line, cells separated by tabs.

Cells are kept as written: `1.234,50` stays `1.234,50`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from tasks.language.tables import is_figure
from tasks.reading import limits
from tasks.reading.text_writer import TABLE, Reading, Source, Writer
from tasks.reading.txt import text_and_warnings

DELIMITERS: Final = ("\t", ";", "|", ",")
_SAMPLE: Final = 1 << 16
_MOST_ROWS: Final = 200
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*+"')
_DECIMAL: Final = re.compile(r"(?<![\d,])\d+,\d+(?![\d,])")
_FIGURE: Final = re.compile(r"\s*+-?\d[\d.']*+,\d+\s*+|\s*+-?\d[\d.']*+\s*+")
_ALIKE: Final = 0.05
"""Delimiters whose rows are alike to this difference are told apart by other means."""

_MOST_UNCUT: Final = 0.7
"""With more rows that a sign does not cut it is punctuation."""

_DIRECTIVE: Final = re.compile(r'"?sep=(.)"?\n', re.IGNORECASE)


def directive(text: str) -> tuple[str | None, int]:
    """The delimiter in Excel's first line `sep=;`, and the length of that line."""
    match = _DIRECTIVE.match(text)
    return (match[1], match.end()) if match else (None, 0)


def delimiter(text: str) -> str | None:
    """The delimiter of a file by its first 200 rows; None if it has one column.

    A comma between two digits in most cells is a decimal comma: such files have another delimiter.
    """
    sample = text[:_SAMPLE]
    if len(sample) < len(text):
        sample = sample[: sample.rfind("\n") + 1] or sample
    sample = _QUOTED.sub(lambda match: f'"{match.group().count(chr(10))}"', sample)  # what is quoted splits nothing
    lines = [line for line in sample.split("\n", _MOST_ROWS)[:_MOST_ROWS] if line.strip()]
    scores = {sign: _score(lines, sign) for sign in DELIMITERS}
    best = max((share for share, _ in scores.values()), default=0)
    if not best:
        return None
    candidates = [sign for sign in DELIMITERS if scores[sign][0] >= best - _ALIKE]
    if len(candidates) > 1 and "," in candidates and _are_decimal(lines):
        candidates.remove(",")
    # a name above decimal numbers is one column, with decimal commas
    if candidates == [","] and len(lines) > 1 and "," not in lines[0] and all(map(_FIGURE.fullmatch, lines[1:])):
        return None
    return max(candidates, key=lambda sign: scores[sign][1])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row certainly names the columns: distinct words above figures."""
    if len(rows) < 2:
        return False
    names, others = rows[0], [row for row in rows[1:_MOST_ROWS] if len(row) > 1]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or any(map(is_figure, names)):
        return False
    for column in range(len(names)):
        values = [row[column] for row in others if column < len(row) and row[column]]
        telling = sum(is_figure(value) or _DATE.fullmatch(value) is not None for value in values)
        if telling > 0.8 * len(values):
            return True
    return False


_DATE: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:[T ].*)?")


def _score(lines: Sequence[str], sign: str) -> tuple[float, int]:
    """The share of rows with the most frequent number of cuts, and that number; 0 if rows are not cut."""
    counts = Counter(line.count(sign) for line in lines)
    uncut = counts.pop(0, 0)
    if not counts or uncut > _MOST_UNCUT * len(lines):
        return 0, 0
    cuts, rows = max(counts.items(), key=lambda item: (item[1], item[0]))
    return rows / len(lines), cuts


def _are_decimal(lines: Sequence[str]) -> bool:
    """Whether most commas are decimal commas."""
    commas = sum(line.count(",") for line in lines)
    return sum(len(_DECIMAL.findall(line)) for line in lines) > commas / 2


_LONGEST_CELL: Final = 1 << 17
"""Characters of a quoted cell, as in Python's own reader."""

_AT_ONCE: Final = 10_000

_PATIENCE: Final = 100_000_000
"""Characters that are searched in vain for closing quotes, all in all."""


class DelimitedRows:
    """The rows of a text.

    Attributes:
        unclosed: the number of quotes that were never closed.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self.unclosed = 0
        self._text = text
        self._delimiter = delimiter
        self._patience = _PATIENCE
        sign = re.escape(delimiter)
        self._quoted = re.compile(rf' *"((?:[^"]|"")*+)" *(?={sign}|\n|\Z)')
        self._closing = re.compile(rf'" *(?={sign}|\n|\Z)')
        self._plain = re.compile(rf"[^{sign}\n]*+")

    def __iter__(self) -> Iterator[list[str]]:
        """Each row's cells, unquoted, as written in the file."""
        text, at = self._text, 0
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if text.find('"', at, end) < 0:
                yield text[at:end].split(self._delimiter)
                at = end + 1
            else:
                cells, at = self._read_quoted_row(at)
                yield cells

    def _read_quoted_row(self, at: int) -> tuple[list[str], int]:
        """The row with quotes that begins at an offset, and where the next row begins."""
        text = self._text
        cells: list[str] = []
        while True:
            cell, at = self._cell(at)
            cells.append(cell)
            if at >= len(text) or text[at] == "\n" or (len(cells) % _AT_ONCE == 0 and limits.is_near()):
                return cells, at + 1
            at += 1

    def _cell(self, at: int) -> tuple[str, int]:
        """The cell that begins at an offset, and where it ends."""
        text = self._text
        start = at
        while start < len(text) and text[start] == " " and start - at < 100:
            start += 1
        if text.startswith('"', start):
            stop = start + _LONGEST_CELL if self._patience > 0 else self._line_end(start)
            match = self._quoted.match(text, start, stop)
            if match and (match.end() < stop or stop >= len(text) or text[stop] == "\n"):
                return match[1].replace('""', '"'), match.end()
            self._patience -= min(stop, len(text)) - start
            closing = self._closing.search(text, start + 1, self._line_end(start))
            if closing:
                return text[start + 1 : closing.start()].replace('""', '"'), closing.end()
            self.unclosed += 1
        match = self._plain.match(text, at)
        assert match is not None  # it may be empty
        return match.group(), match.end()

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end


_SPACE: Final = re.compile("[ \t\n]+")
_AROUND_TABS: Final = re.compile(" ?\t ?")
_TRAILING: Final = re.compile("(?<![ \t])[ \t]++$", re.MULTILINE)
_ROWS_AT_ONCE: Final = 1_000
_MOST_TRAILING: Final = 1_000_000
_HEAD: Final = 1 << 16


def read(source: Source) -> Reading:
    """The rows of the file in `source` as a table; empty lines are kept. An empty file gives an empty text.

    Of a file above 64 MB, the first 64 MB are read, with a warning.
    """
    text, warnings = text_and_warnings(source)
    writer = Writer(warnings)
    sign, begins = directive(text)
    text = text[begins:].strip("\n")
    if sign is None:
        sign = delimiter(text)
    if sign is None and '"' not in text:
        writer.text(text)
        return writer.reading()
    sign = sign or ","
    header = has_header([_cells(row) for row in islice(DelimitedRows(text[:_HEAD], sign), 200)])
    with writer.place(TABLE, "1" if header else ""):
        if '"' in text:
            _write_rows(DelimitedRows(text, sign), writer)
        else:
            writer.text(_split(text, sign))
    return writer.reading()


def _write_rows(rows: DelimitedRows, writer: Writer) -> None:
    remaining = iter(rows)
    while lines := ["\t".join(_cells(row)).rstrip("\t") for row in islice(remaining, _ROWS_AT_ONCE)]:
        writer.line("\n".join(lines))
        if limits.is_near():
            writer.warn("The file has too many rows: those that could be read in time are here.")
            break
    if rows.unclosed:
        count = f"{rows.unclosed:,}"
        writer.warn(f"Quotation marks are never closed ({count}): they were read as characters of their cells.")


def _cells(row: list[str]) -> list[str]:
    return [_SPACE.sub(" ", cell).strip(" ") for cell in row]


def _split(text: str, sign: str) -> str:
    """The same for a whole text without quotes, in one go."""
    if sign != "\t":
        text = text.replace("\t", " ").replace(sign, "\t")
    if "  " in text:
        text = re.sub(" {2,}", " ", text)
    if " \t" in text or "\t " in text:
        text = _AROUND_TABS.sub("\t", text)
    text = text.replace("\n ", "\n")
    if text.endswith(("\t", " ")) or 0 < text.count("\t\n") + text.count(" \n") < _MOST_TRAILING:
        text = _TRAILING.sub("", text)
    return text
