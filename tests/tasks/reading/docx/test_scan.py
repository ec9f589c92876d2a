"""Scans of WordprocessingML: what is broken, endless or hostile in the bytes."""

from collections import defaultdict
from collections.abc import Mapping

import pytest

from tasks.errors import TooLarge
from tasks.reading.docx.layout import Layout, Marks, drop_marks
from tasks.reading.docx.scan import Scan, signature
from tasks.reading.docx.styles import StyleFacts
from tests.cases import cases


class Nothing:
    """A part that stands alone; its notes say that they were asked for."""

    def __init__(self) -> None:
        self.marks = Marks()
        self.deletions: list[tuple[str, str]] = []

    @property
    def styles(self) -> Mapping[bytes, StyleFacts | None]:
        return defaultdict(lambda: None, {b"H": StyleFacts(heading=True)})

    def note(self, kind: str, name: str) -> list[str]:
        return [f"{kind} {name}"]

    def drawing(self, part: str, name: str) -> list[str]:
        return [f"{part} {name}", " \n"]

    def chunk(self, part: str, name: str) -> list[str]:
        return [f"chunk {name}"]

    def note_deletion(self, rest: bytes) -> None:
        self.deletions.append(signature(rest))


def scan(data: str) -> Layout:
    return Scan(data.encode(), "part", Nothing(), headings=True).run()


def lines_of(data: str) -> list[str]:
    return [drop_marks(line) for line in scan(data).lines]


def test_references_are_followed_by_kind_and_id() -> None:
    data = (
        "<w:p><w:t>a</w:t><w:footnoteReference w:customMarkFollows='1' w:id='7'/><w:endnoteReference w:id=\"8\"/>"
        '<w:commentReference w:id = "9"/><c:chart xmlns:c="x" r:id="r1"/><cx:chart r:id="r2"/>'
        '<dgm:relIds r:cs="no" r:dm="r3"/></w:p>'
    )
    below = ["footnotes 7", "endnotes 8", "comments 9", "part r1", "part r2", "part r3"]
    assert lines_of(data) == ["a", *below]


def test_headings_are_lines_by_index() -> None:
    layout = scan(
        '<w:p><w:t>a</w:t></w:p><w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:t>b</w:t></w:p><w:p><w:t>c</w:t></w:p>'
    )
    assert (layout.lines, layout.headings) == (["a", "b", "c"], [1])


@cases(
    ("data", "lines"),
    [
        ("<w:p><w:r><w:t>cut of", ["cut of"]),
        ("<w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t xml:sp", ["a"]),
        ("<w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:p><w:t>b</w:t>", ["a\tb"]),
        ("<w:p><w:t>a</w:t><w:txbxContent><w:p><w:t>in</w:t></w:p><w:tr><w:tc><w:p><w:t>cell", ["a", "in", "cell"]),
        ("<w:p><w:t>a</w:t><w:del><w:r><w:t>gone", ["a"]),
        ("<w:p><m:oMath><m:r><m:t>x</m:t></m:r></w:p><w:p><w:t>a</w:t></w:p>", ["x", "a"]),
        ("<w:p><a:p><a:r><a:t>drawn</w:p><w:p><w:t>a", ["drawn", "a"]),
        ("</w:tr></w:tc></w:txbxContent></w:p></a:p><w:tc><w:p><w:t>a</w:t></w:p></w:tc></w:tr>", ["a"]),
        ("<w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tr><w:tc><w:p><w:t>b</w:t></w:p></w:tc></w:tr>", ["a", "b"]),
        ("<w:tr/><w:tr><w:tc/><w:tc><w:p><w:t>b</w:t></w:p></w:tc></w:tr><w:txbxContent/><w:p><w:t>c", ["\tb", "c"]),
        ('<w:p><w:t a="b<w:t>c</w:t></w:p>', ["c"]),
        ("<w:p><m:oMath/><m:oMath></m:oMath><w:t>a</w:t><w:del/><w:moveFrom/><w:del></w:del></w:p>", ["a"]),
    ],
)
def test_what_is_left_open_ends_somewhere(data: str, lines: list[str]) -> None:
    assert lines_of(data) == lines


@cases(
    "tag",
    [
        "w:t",
        "w:t ",
        'w:t "',
        "w:del>",
        'w:del "',
        "w:pStyle w:val='",
        "m:oMath>",
        "a:p>",
        "w:tr>",
        "w:txbxContent>",
        "",
    ],
)
def test_what_begins_a_hundred_thousand_times_and_never_ends_is_passed_over(tag: str) -> None:
    assert scan(f"<{tag}" * 100_000).lines == []


def test_a_tag_of_ten_million_characters_is_a_tag() -> None:
    assert scan('<w:t a="' + ">" * 10_000_000 + '">a</w:t>').lines == ["a"]
    assert scan("<w:t " + '"' * 10_000_000).lines == []


def test_formulas_beyond_measure_give_their_words() -> None:
    deep = "<m:f><m:num><m:r><m:t>a</m:t></m:r>" * 5000 + "</m:num></m:f>" * 5000
    assert scan(f"<w:p><m:oMath>{deep}</m:oMath></w:p>").lines == ["a" * 5000]
    long = "<m:r><m:t>ab</m:t></m:r>" * 100_000
    assert scan(f"<w:p><m:oMath>{long}</m:oMath></w:p>").lines == ["ab" * 100_000]


def test_a_formula_may_hold_what_xml_escapes() -> None:
    formula = "<m:oMath><m:r><m:t>a &lt; b &amp;lt; c</m:t></m:r></m:oMath>"
    assert scan(f"<w:p>{formula}<w:t> &amp; d</w:t></w:p>").lines == ["a < b &lt; c & d"]


def test_cells_fill_the_columns_that_they_span() -> None:
    def cell(words: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:tc>"

    before = '<w:tcPrChange w:id="1"><w:tcPr><w:gridSpan w:val="5"/></w:tcPr></w:tcPrChange>'
    rows = [
        cell("a") + cell("b") + cell("c") + cell("d"),
        cell("a and b", '<w:gridSpan w:val="2"/>') + cell("c", before) + cell("d"),
        '<w:trPr><w:gridBefore w:val="2"/></w:trPr>' + cell("c", '<w:gridSpan w:val="0"/>') + cell("d"),
        cell("a", '<w:gridSpan w:val="-2"/>') + cell("b to d", '<w:gridSpan w:val="3"/>'),
    ]
    lines = scan("".join(f"<w:tr>{row}</w:tr>" for row in rows)).lines
    assert lines == ["a\tb\tc\td", "a and b\t\tc\td", "\t\tc\td", "a\tb to d"]


def test_a_cell_spans_no_more_columns_than_a_table_may_have() -> None:
    row = '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="999"/></w:tcPr><w:t>a</w:t></w:tc><w:tc><w:t>b</w:t></w:tc></w:tr>'
    assert lines_of(row) == ["a" + "\t" * 63 + "b"]


def test_spans_outside_of_tables_say_nothing() -> None:
    span = '<w:gridSpan w:val="3"/><w:gridBefore w:val="3"/>'
    lines = scan(f"{span}<w:p><w:t>a</w:t></w:p><w:txbxContent>{span}<w:p><w:t>b</w:t></w:p>").lines
    assert [drop_marks(line) for line in lines] == ["a", "b"]


@pytest.mark.slow
def test_millions_of_cells_are_too_many() -> None:
    with pytest.raises(TooLarge):
        scan("<w:tr><w:tc>" * 2_100_000)
