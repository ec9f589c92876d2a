"""Builds Word documents that mean harm with their lists and remarks: endless numbers, circles, hosts of definitions."""

from collections.abc import Callable, Iterable
from functools import cache

from tests.tasks.reading.hostile_files import MARKER, word
from tests.tasks.reading.ooxml.packages import NAMES, p

_NUMBERING = ("numbering", "numbering.xml")
_STYLES = ("styles", "styles.xml")


def item(number: int | str, depth: int = 0, text: str = "a") -> str:
    """A paragraph of a list."""
    listed = f'<w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
    return f"<w:p>{listed}<w:r><w:t>{text}</w:t></w:r></w:p>"


def level(depth: int, kind: str = "decimal", start: int = 1) -> str:
    """A level that shows the numbers of all above it."""
    shown = "".join(f"%{higher}." for higher in range(1, depth + 2))
    shape = f'<w:start w:val="{start}"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{shown}"/>'
    return f'<w:lvl w:ilvl="{depth}">{shape}</w:lvl>'


def definition(number: int, content: str) -> str:
    """A definition, and a list of the same number that refers to it: they may stand side by side here."""
    return f'<w:abstractNum w:abstractNumId="{number}">{content}</w:abstractNum>' + listed(number, number)


def listed(number: int, refers_to: int) -> str:
    """A list that refers to a definition."""
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{refers_to}"/></w:num>'


def numbered(body: Iterable[str], numbering: Iterable[str], styles: Iterable[str] = ()) -> bytes:
    """A document with these lists and styles."""
    parts: dict[str, str | bytes] = {
        "word/numbering.xml": f"<w:numbering {NAMES}>{''.join(numbering)}</w:numbering>",
        "word/styles.xml": f"<w:styles {NAMES}>{''.join(styles)}</w:styles>",
    }
    return word("".join(body), {**parts}, _NUMBERING, _STYLES)


def style(number: int, base: int, list_id: int) -> str:
    """A style of a list, based on another."""
    of_list = f'<w:pPr><w:numPr><w:numId w:val="{list_id}"/></w:numPr></w:pPr>'
    return f'<w:style w:styleId="S{number}"><w:basedOn w:val="S{base}"/>{of_list}</w:style>'


@cache
def lists() -> dict[str, Callable[[], bytes]]:
    """Documents of a million numbers or comments, definitions in circles, and as many as fit.

    Each is made when it is called: all of them take 2 s.
    """
    nine = "".join(level(depth) for depth in range(9))
    romans = "".join(level(depth, "upperRoman", 28_888) for depth in range(9))
    note = f"w:author='A'>{p('c')}</w:comment>"
    return {
        "numbers.docx": lambda: numbered([item(1, 3, "") * 700_000], [definition(1, nine)]),
        "long_numbers.docx": lambda: numbered([item(1, 8) * 500_000], [definition(1, romans)]),
        "depths.docx": lambda: numbered(
            [*(f"<w:tbl><w:tr><w:tc>{item(1, n)}" for n in range(10_000)), "</w:tc></w:tr></w:tbl>" * 10_000],
            [definition(1, nine)],
        ),
        "circle.docx": lambda: numbered(
            [f'<w:p><w:pStyle w:val="S{n % 1000}"/><w:r><w:t>a</w:t></w:r></w:p>' for n in range(50_000)],
            [definition(n, f'<w:numStyleLink w:val="S{(n + 1) % 1000}"/>') for n in range(1000)],
            [style(n, (n + 7) % 1000, n) for n in range(1000)],
        ),
        "definitions.docx": lambda: numbered(
            [item(n, 8) for n in range(100_000)], [definition(n, level(8)) for n in range(100_000)]
        ),
        "one_definition.docx": lambda: numbered(
            [item(n, 8) for n in range(200_000)],
            [f'<w:abstractNum w:abstractNumId="0">{nine * 5_000}</w:abstractNum>']
            + [listed(n, 0) for n in range(200_000)],
        ),
        "unended.docx": lambda: numbered(
            [item(n, 8) for n in range(50_000)],
            [definition(n, nine).replace("</w:abstractNum>", "").replace("</w:num>", "") for n in range(5_000)],
        ),
        "comments.docx": lambda: word(
            "".join(f"<w:p><w:r><w:commentReference w:id='{n}'/></w:r></w:p>" for n in range(300_000)),
            {
                "word/comments.xml": "".join([
                    f"<w:comments {NAMES}>",
                    *(f"<w:comment w:id='{n}' {note}" for n in range(300_000)),
                    "</w:comments>",
                ])
            },
            ("comments", "comments.xml"),
        ),
        "empty_comments.docx": lambda: word(
            p(MARKER),
            {"word/comments.xml": f"<w:comments {NAMES}>{'<w:comment >' * 7_000_000}</w:comments>"},
            ("comments", "comments.xml"),
        ),
        "insertions.docx": lambda: word(
            "<w:p>" + "<w:ins w:author='A' w:date='d'><w:r><w:t>a</w:t></w:r></w:ins>" * 500_000 + "</w:p>"
        ),
    }  # fmt: skip
