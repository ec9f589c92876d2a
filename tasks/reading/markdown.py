"""Markdown (.md): its text unchanged, headings and tables as places, the cells of table rows separated by tabs.

Headings are those of CommonMark (`# …`, and lines underlined with `===` or `---`), tables those of GitHub. Nothing in
code blocks or in the front matter counts as one; the front matter stays, as what the document does not show.
"""

import re
from typing import Final

from tasks.reading import limits
from tasks.reading.text_writer import FRONT_MATTER, TABLE, UNSEEN, Reading, Source, Writer
from tasks.reading.txt import text_and_warnings

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]++(.*+))?")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_FIELD: Final = re.compile(
    r"(?:layout|title|parent|grand_parent|nav_order|has_children|permalink|slug|weight|toc|date|lastmod|draft|published"
    r"|lang|id|sidebar(?:_label|_position)?|tags|categor(?:y|ies)|authors?|aliases|redirect_from):(?:\s|$)"
)
"""A line of the fields that generators of web pages read; fields of other names hold what a document has to say."""
_ITEM: Final = re.compile(r"\s*- \S{1,40}$")
"""One tag, author or address of a field before it, in one word."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_PARAGRAPH: Final = re.compile(r"(?: {4}|\t| {0,3}(?:[-+*>|]|\d{1,9}[.)])(?:\s|$)| {0,3}(?:[-*_][ \t]*){3,}$)")
_RULE_ROW: Final = re.compile(r"[ ]{0,3}\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*")
_CELL: Final = re.compile(r"((?:[^|\\`]|\\.?|(`+)(?!`).*?(?<!`)\2(?!`)|`+)*+)(\||$)")
_MARKUP: Final = re.compile(r"[*_`]+|!?\[([^\]]{0,400}+)\]\([^)]{0,2000}+\)")
_LONGEST_LINE: Final = 20_000
"""Characters of a line that may be a heading or a row."""
_MOST_BACKTICKS: Final = 200
"""In a row whose cells are told apart: from each, the end of its code is looked for."""

_MOST_LINES: Final = 2_000_000
"""A text of more lines is no document that somebody wrote; it is read as it is."""

_MOST_HEADINGS: Final = 100_000


def read(source: Source) -> Reading:
    """The text of the file in `source`; of a file above 64 MB the first 64 MB, with a warning."""
    text, warnings = text_and_warnings(source)
    writer = Writer(warnings)
    if text.count("\n") > _MOST_LINES:
        writer.text(text)
    else:
        _write(text.removesuffix("\n").split("\n"), writer)
    return writer.reading()


def _write(lines: list[str], writer: Writer) -> None:
    at = _front_matter(lines)
    plain = lines[:at]  # what waits to be written at once
    if _is_metadata(plain[1:-1]) and any(map(str.strip, lines[at:])):
        with writer.place(UNSEEN, FRONT_MATTER):
            _flush(plain, writer)
    fence = ""
    headings = 0
    while at < len(lines):
        if limits.is_near():
            plain += lines[at:]
            break
        line = lines[at]
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opening and not (opening[1][0] == "`" and "`" in line[opening.end() :]):
            fence = opening[1]
        elif len(line) > _LONGEST_LINE:
            pass
        elif headings < _MOST_HEADINGS and (heading := _heading(lines, at)):
            headings += 1
            _flush(plain, writer)
            writer.heading(_MARKUP.sub(r"\1", heading))
        elif end := _table_end(lines, at):
            _flush(plain, writer)
            with writer.place(TABLE, "1"):
                for row in (line, *lines[at + 2 : end]):
                    split = not limits.is_near()
                    writer.line("\t".join(_cells(row)).rstrip("\t") if split else row)
            at = end
            continue
        plain.append(line)
        at += 1
    _flush(plain, writer)


def _flush(plain: list[str], writer: Writer) -> None:
    if plain:
        writer.line("\n".join(plain))
        plain.clear()


def _front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at, line in enumerate(lines[1:200], 1) if line.rstrip() in ("---", "...")), 0)


def _is_metadata(fields: list[str]) -> bool:
    return bool(fields and _FIELD.match(fields[0])) and all(_FIELD.match(one) or _ITEM.match(one) for one in fields)


def _heading(lines: list[str], at: int) -> str:
    """The words of the heading on a line; "" if it is not a heading."""
    line = lines[at]
    match = _HEADING.fullmatch(line)
    if match:
        words = (match[1] or "").rstrip(" \t")
        open_end = words.rstrip("#")
        return words if open_end[-1:] not in {"", " ", "\t"} else open_end.rstrip(" \t")
    underlined = at + 1 < len(lines) and lines[at + 1] and _UNDERLINE.fullmatch(lines[at + 1][:1000])
    if not underlined or not line.strip() or _NO_PARAGRAPH.match(line) or (at and _continues(lines[at - 1])):
        return ""
    return line.strip()


def _continues(before: str) -> bool:
    """Whether a line may continue the paragraph of the line before it."""
    return bool(before.strip()) and not _HEADING.fullmatch(before[:_LONGEST_LINE])


def _table_end(lines: list[str], at: int) -> int:
    """The line after the table whose header may be this line; 0 if it is no table."""
    if at + 1 == len(lines) or "|" not in lines[at] or "-" not in lines[at + 1]:
        return 0
    rule = lines[at + 1]
    if len(rule) > _LONGEST_LINE or not _RULE_ROW.fullmatch(rule) or len(_cells(rule)) != len(_cells(lines[at])):
        return 0
    end = at + 2
    while end < len(lines) and lines[end].strip() and not (_FENCE.match(lines[end]) or _HEADING.fullmatch(lines[end])):
        end += 1
    return end


def _cells(row: str) -> list[str]:
    """The cells of a row; a pipe character after a backslash or in code is part of the text."""
    row = row.strip()
    row = row.removeprefix("|")
    splits = len(row) <= _LONGEST_LINE and row.count("`") <= _MOST_BACKTICKS
    cells: list[str] = []
    at = 0
    while at <= len(row):
        match = _CELL.match(row, at) if splits else None
        if match is None:
            cells.append(row[at:])
            break
        cells.append(match[1].replace("\\|", "|"))
        at = match.end() if match[3] else len(row) + 1
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [" ".join(cell.split()) for cell in cells]
