"""Changes of a whole package that leave its meaning as it is: relationships, the strict form, rows without numbers."""

import posixpath
import random
import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Final

from tests.fuzz import legal

_READ: Final = re.compile(
    r"(?i)^(?:(?:word|ppt|xl)/(?:document|presentation|workbook|header\d*|footer\d*|footnotes|endnotes|comments\d*|sharedStrings"
    r"|slides/slide\d+|notesSlides/notesSlide\d+|comments/\w+|worksheets/sheet\d+|styles|numbering|commentAuthors|authors)\.xml"
    r"|.*\.rels)$"
)
_RELATIONSHIP: Final = re.compile(r"<!--.*?-->|<Relationship\b([^<>]*?)\s*(?:/>|>\s*</Relationship>)", re.DOTALL)
_ROW: Final = re.compile(r"<row(?=[\s>])([^<>]*)(/?)>")
_FIRST_CELL: Final = re.compile(r'<c r="A(\d+)"')

Parts = dict[str, bytes]


def mutate(rng: random.Random, data: bytes) -> tuple[bytes, list[str]]:
    """The package with one to three changes, and their names; none where none finds a place."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    made: list[str] = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice((*legal.NAMES, *CHANGES, *(_SHEETS if any("worksheets/" in part for part in parts) else ())))
        if name in CHANGES and _relationships(parts):
            changed = CHANGES[name](rng, parts)
        elif name in CHANGES:
            continue
        elif name in _SHEETS:
            changed = _in_sheet(rng, parts, _SHEETS[name])
        else:
            changed = _in_part(rng, parts, name)
        if changed != parts:
            parts = changed
            made.append(name)
    return _packed(rng, parts), made


def _packed(rng: random.Random, parts: Parts) -> bytes:
    """A zip of the parts, in their order or another, deflated or stored."""
    out = BytesIO()
    names = list(parts)
    if rng.random() < 0.2:
        rng.shuffle(names)
    with zipfile.ZipFile(
        out, "w", zipfile.ZIP_STORED if rng.random() < 0.1 else zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        for name in names:
            archive.writestr(name, parts[name])
    return out.getvalue()


def _in_part(rng: random.Random, parts: Parts, change: str) -> Parts:
    names = [name for name in parts if _READ.match(name) and len(parts[name]) < 400_000]
    if not names:
        return parts
    chosen = names if rng.random() < 0.15 else [rng.choice(names)]
    return {**parts, **{name: legal.changed(rng, parts[name], change) for name in chosen}}


def _relationships(parts: Parts) -> list[str]:
    return [name for name in parts if name.lower().endswith(".rels")]


def _rewrite(parts: Parts, name: str, write: Callable[[str], str]) -> Parts:
    """A part of relationships with each of them written anew; those in another form stay."""
    try:
        text = parts[name].decode()
    except UnicodeDecodeError:
        return parts

    def written(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else write(match[1].rstrip("/"))  # a comment stays

    return {**parts, name: _RELATIONSHIP.sub(written, text).encode()}


def _on_lines(rng: random.Random, parts: Parts) -> Parts:
    """Relationships on several lines, with comments among them."""

    def write(attributes: str) -> str:
        remark = rng.choice(("", "<!-- <Relationship Id='no'/> -->", "\n"))
        return (
            remark
            + "<Relationship"
            + re.sub(r"\s+(\w+\s*=)", rng.choice(("\n  ", "\t", "\r\n")) + r"\1", attributes)
            + "\n/>"
        )

    return _rewrite(parts, rng.choice(_relationships(parts)), write)


def _closed_by_tags(rng: random.Random, parts: Parts) -> Parts:
    return _rewrite(
        parts, rng.choice(_relationships(parts)), lambda attributes: f"<Relationship{attributes}></Relationship>"
    )


def _targets(rng: random.Random, parts: Parts) -> Parts:
    """Targets from the root of the package, or by a way round."""
    name = rng.choice(_relationships(parts))
    folder = posixpath.dirname(posixpath.dirname(name))

    def write(attributes: str) -> str:
        target = re.search(r"""Target\s*=\s*["']([^"']*)["']""", attributes)
        if target is None or "External" in attributes or "#" in target[1]:
            return f"<Relationship{attributes}/>"
        full = posixpath.normpath(posixpath.join("/" + folder, target[1]))
        relative = posixpath.relpath(full, "/" + folder)
        new = rng.choice((full, relative, "./" + relative, f"x/../{relative}", relative.replace(".xml", "%2Exml")))
        return f"<Relationship{attributes[: target.start(1)]}{new}{attributes[target.end(1) :]}/>"

    return _rewrite(parts, name, write)


def _order(rng: random.Random, parts: Parts) -> Parts:
    """Relationships in another order: their ids tell them apart."""
    name = rng.choice(_relationships(parts))
    if re.search(r"(?i)slides/_rels|worksheets/_rels|document\d*\.xml", name):
        return parts  # there notes, comments and headers come in the order of the part
    try:
        text = parts[name].decode()
    except UnicodeDecodeError:
        return parts
    relationships = [match[0] for match in _RELATIONSHIP.finditer(text) if match[1] is not None]
    rng.shuffle(relationships)

    def reordered(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else relationships.pop()  # a comment stays: it may stand round the root

    return {**parts, name: _RELATIONSHIP.sub(reordered, text).encode()}


def _strict(_: random.Random, parts: Parts) -> Parts:
    strict = {name: legal.strict(data) for name, data in parts.items() if name.lower().endswith((".xml", ".rels"))}
    return {**parts, **strict}


def _upper_case(rng: random.Random, parts: Parts) -> Parts:
    """Names of parts in upper case: they are the same (ISO/IEC 29500-2, 6.2.2.3)."""
    return {
        name.upper() if rng.random() < 0.5 and name != "[Content_Types].xml" else name: data
        for name, data in parts.items()
    }


def _in_sheet(rng: random.Random, parts: Parts, change: Callable[[random.Random, str], str]) -> Parts:
    names = [name for name in parts if re.search(r"(?i)worksheets/[^/]+\.xml$", name) and len(parts[name]) < 400_000]
    if not names:
        return parts
    name = rng.choice(names)
    try:
        text = parts[name].decode()
    except UnicodeDecodeError:
        return parts
    if "<sheetData>" not in text:
        return parts
    return {**parts, name: change(rng, text).encode()}


def _without_numbers(_: random.Random, text: str) -> str:
    """Rows and cells without `r` where it says only that they follow one another, from the first."""
    pieces = re.split(r"(?=<row[\s>])", text)
    for number in range(1, len(pieces)):
        row = pieces[number]
        if not re.match(rf'<row [^<>]*\br="{number}"', row):
            break
        columns = re.findall(r'<c r="([A-Z]+)\d+"', row)
        if columns == [chr(65 + column) for column in range(len(re.findall(r"<c[\s>]", row)))]:
            row = re.sub(r'<c r="[A-Z]+\d+"', "<c", row)
        pieces[number] = re.sub(r'(<row [^<>]*?)\s*\br="\d+"', r"\1", row, count=1)
    return "".join(pieces)


def _alike_rows(rng: random.Random, text: str) -> str:
    """Many alike rows behind the last one, whose cells hold nothing."""
    rows = [int(number) for number in re.findall(r'<row [^<>]*\br="(\d+)"', text)]
    last = max(rows, default=0)
    if not rows or len(rows) != len(re.findall(r"<row[\s>]", text)) or last > 100_000:
        return text
    cell = rng.choice(
        (
            '<c r="B{0}"><v/></c>',
            '<c r="B{0}" t="s"><v></v></c>',
            '<c r="B{0}" t="inlineStr"><is><t/></is></c>',
            '<c r="B{0}" s="0"/>',
        )
    )
    count = rng.choice((1, 20, 42, 500))
    alike = "".join(f'<row r="{number}">{cell.format(number)}</row>' for number in range(last + 1, last + 1 + count))
    end = last + count + 7
    cell = f'<c r="C{end}" t="inlineStr"><is><t>endofsheet</t></is></c>'
    return text.replace("</sheetData>", f'{alike}<row r="{end}">{cell}</row></sheetData>')


def _empty_cells(rng: random.Random, text: str) -> str:
    """Empty values between the cells of rows that begin behind column A."""
    empty = rng.choice(
        ('<c r="A{0}"><v/></c>', '<c r="A{0}"/>', '<c r="A{0}" t="s"/>', '<c r="A{0}" t="inlineStr"><is></is></c>')
    )
    return re.sub(
        r'(<row [^<>]*\br="(\d+)"[^<>]*(?<!/)>)(?!<c r="A\d)(?=<c r=")', lambda row: row[1] + empty.format(row[2]), text
    )


CHANGES: Final[dict[str, Callable[[random.Random, Parts], Parts]]] = {
    "relationships on lines": _on_lines,
    "relationships closed by tags": _closed_by_tags,
    "targets": _targets,
    "order of relationships": _order,
    "strict": _strict,
    "names in upper case": _upper_case,
}
"""Changes of the parts of a package by name."""

_SHEETS: Final[dict[str, Callable[[random.Random, str], str]]] = {
    "rows without numbers": _without_numbers,
    "alike rows": _alike_rows,
    "empty cells": _empty_cells,
}
