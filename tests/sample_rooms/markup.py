"""The sources of the sample documents: a small Markdown with a YAML head, read into blocks.

`#`, `##`, `###` are title and headings, `-` a list item, `|` a table row, `===` a new page or slide,
`>` a speaker note, `^ Author, 2025-01-31: …` a reviewer's comment on the paragraph above, `! Title: a=1, b=2` a chart.
Every other line is a paragraph.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml


class Kind(StrEnum):
    """What a block is."""

    TITLE = "# "
    HEADING = "## "
    SUBHEADING = "### "
    ITEM = "- "
    ROW = "|"
    NOTE = "> "
    COMMENT = "^ "
    CHART = "! "
    BREAK = "==="
    PARAGRAPH = ""


@dataclass(frozen=True)
class Block:
    """One block. `rows` holds the cells of a table, a row each, and is empty for every other kind."""

    kind: Kind
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Source:
    """One document's source: its author and date, its header and footer, and its blocks.

    `scanned` asks for pictures of the pages, `damaged` for a file that cannot be opened; `encoding` is that of a text
    file.
    """

    title: str
    author: str
    written: date
    header: str = ""
    footer: str = ""
    encoding: str = "utf-8"
    scanned: bool = False
    damaged: bool = False
    body: str = field(default="", repr=False)
    blocks: tuple[Block, ...] = field(default=(), repr=False)


def read(path: Path) -> Source:
    """Read one source file.

    Raises:
        ValueError: the file has no YAML head between two lines of `---`.
    """
    parts = re.fullmatch(r"---\n(.*?)\n---\n(.*)", path.read_text("utf-8"), re.DOTALL)
    if parts is None:
        raise ValueError(f"{path.name} opens with no YAML head between two lines of ---.")
    head: dict[str, Any] = yaml.safe_load(parts[1])
    return Source(**head, body=parts[2].strip() + "\n", blocks=tuple(_blocks(parts[2])))


def _blocks(body: str) -> Iterator[Block]:
    for kind, lines in groupby(filter(None, body.splitlines()), _kind):
        texts = [line[len(kind.value) :].strip() for line in lines]
        if kind is Kind.ROW:
            rows = (text.removesuffix("|").split("|") for text in texts)
            yield Block(kind, rows=tuple(tuple(cell.strip() for cell in row) for row in rows))
        else:
            yield from (Block(kind, text) for text in texts)


def _kind(line: str) -> Kind:
    return next(kind for kind in Kind if line.startswith(kind.value))
