"""Which character splits the cells of a file, and whether its first row names its columns.

Python's `csv.Sniffer` decides by the frequency of all characters (it splits words at `e`); here four delimiters are
tried on the file's first rows, and the one that cuts them into equally many cells is taken.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tasks.reading.tables import is_figure

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
    """The delimiter that Excel's first line `sep=;` names, and how many characters that line has."""
    match = _DIRECTIVE.match(text)
    return (match[1], match.end()) if match else (None, 0)


def delimiter(text: str) -> str | None:
    """The delimiter of a file by its first 200 rows; None where it has one column.

    A comma between two figures of most cells is a decimal comma: such files have another delimiter.
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
    if candidates == [","] and _is_one_column_of_figures(lines):
        return None
    return max(candidates, key=lambda sign: scores[sign][1])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether it is sure that the first row names the columns: words over figures, each other than the others."""
    if len(rows) < 2:
        return False
    names, others = rows[0], [row for row in rows[1:_MOST_ROWS] if len(row) > 1]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or any(map(is_figure, names)):
        return False
    for column in range(len(names)):
        values = [row[column] for row in others if column < len(row) and row[column]]
        if values and sum(map(_is_value, values)) > 0.8 * len(values):
            return True
    return False


_DATE: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:[T ].*)?")


def _is_value(words: str) -> bool:
    return is_figure(words) or _DATE.fullmatch(words) is not None


def _score(lines: Sequence[str], sign: str) -> tuple[float, int]:
    """The share of rows that are cut into as many cells as most are, and that number; 0 where they are not cut."""
    counts = Counter(line.count(sign) for line in lines)
    uncut = counts.pop(0, 0)
    if not counts or uncut > _MOST_UNCUT * len(lines):
        return 0, 0
    cuts, rows = max(counts.items(), key=lambda item: (item[1], item[0]))
    return rows / len(lines), cuts


def _is_one_column_of_figures(lines: Sequence[str]) -> bool:
    """Whether a name stands over nothing but decimal numbers: one column, with decimal commas."""
    return len(lines) > 1 and "," not in lines[0] and all(map(_FIGURE.fullmatch, lines[1:]))


def _are_decimal(lines: Sequence[str]) -> bool:
    """Whether most commas are decimal ones."""
    commas = sum(line.count(",") for line in lines)
    return sum(len(_DECIMAL.findall(line)) for line in lines) > commas / 2
