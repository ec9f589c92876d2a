"""Workbooks (ECMA-376 part 1, 18): the cells of each sheet with their rows and columns."""

import re

from lxml import etree

from tests.fuzz.plain_readers.package import PlainPackage, name_of, value_of
from tests.fuzz.plain_readers.stories import Cell

_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]+)")


def read(data: bytes) -> list[tuple[str, list[Cell]]]:
    """The name and the cells of each sheet, row by row."""
    package = PlainPackage(data)
    main = package.main()
    root = package.tree(main)
    assert root is not None
    targets = {related.id: related.target for related in package.related(main)}
    strings = _strings(package, main)
    sheets = []
    for element in root.iter():
        if name_of(element) == "s:sheet":
            part = package.tree(targets.get(value_of(element, "r:id") or "", ""))
            sheets.append((element.get("name") or "", _cells(part, strings) if part is not None else []))
    return sheets


def _strings(package: PlainPackage, main: str) -> list[str]:
    name = next((related.target for related in package.related(main) if related.kind == "sharedStrings"), "")
    root = package.tree(name)
    return [_string(item) for item in root if name_of(item) == "s:si"] if root is not None else []


def _string(item: etree._Element) -> str:
    """A string (18.4.8): its text or that of its runs, without the phonetic ones."""
    pieces = []
    for child in item:
        texts = [child] if name_of(child) == "s:t" else child if name_of(child) == "s:r" else ()
        pieces += [text.text or "" for text in texts if name_of(text) == "s:t"]
    return "".join(pieces)


def _cells(root: etree._Element, strings: list[str]) -> list[Cell]:
    """The cells with a value. A row or cell without `r` follows the one before (18.3.1.4, 18.3.1.73)."""
    found = []
    row_number = 0
    for row in root.iter():
        if name_of(row) != "s:row":
            continue
        row_number = int(row.get("r") or row_number + 1)
        column = 0
        for cell in row:
            if name_of(cell) != "s:c":
                continue
            reference = _REFERENCE.fullmatch(cell.get("r") or "")
            column = _column(reference[1]) if reference else column + 1
            words, holds = _value(cell, strings)
            if holds:
                found.append(Cell(row_number, column, words))
            elif any(name_of(child) == "s:f" for child in cell):
                found.append(Cell(row_number, column, None, is_computed=True))
    return sorted(found, key=lambda cell: cell[:2])


def _value(cell: etree._Element, strings: list[str]) -> tuple[str | None, bool]:
    """The words of a string (None of any other value), and whether there is anything in the cell."""
    value = next((child.text or "" for child in cell if name_of(child) == "s:v"), "")
    kind = cell.get("t") or "n"
    if kind == "inlineStr":
        words = "".join(_string(child) for child in cell if name_of(child) == "s:is")
    elif kind == "s":
        number = value.strip()
        words = strings[int(number)] if number.isdecimal() and int(number) < len(strings) else ""
    elif kind == "str":
        words = value
    else:
        return None, bool(value.strip())
    words = " ".join(re.sub("_x([0-9A-Fa-f]{4})_", lambda code: chr(int(code[1], 16)), words).split())
    return words, bool(words)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
