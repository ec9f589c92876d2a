"""Text documents of OpenDocument: what is written, and where it stands."""

from io import BytesIO
from zipfile import ZipFile

import pytest

from tasks.errors import Damaged, PasswordProtected
from tasks.reading import read_document
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.text_writer import NO_TEXT, Reading
from tests.tasks.reading.odf.packages import BULLETS, content, package, paragraph


def read(body: str, styles: str = "", masters: str = "", **others: str | bytes) -> Reading:
    return read_document(package("text", body, styles, masters, **others), ".odt")


def places(reading: Reading, *kinds: str) -> list[tuple[str, str, str]]:
    return [
        (place.kind, place.label, reading.text[place.start : place.end].strip("\n"))
        for place in reading.places
        if place.kind in kinds
    ]


def test_paragraphs_headings_and_white_space() -> None:
    body = (
        '<text:h text:outline-level="1">Scope</text:h><text:p>One  <text:span>two</text:span><text:s text:c="3"/>three'
        "<text:line-break/>four<text:tab/>five</text:p><text:p/><text:p><text:a>link</text:a></text:p>"
    )
    reading = read(body)
    assert reading.text == "Scope\nOne two   three\nfour\tfive\nlink\n"
    assert places(reading, "heading") == [("heading", "Scope", reading.text.strip("\n"))]
    assert [place.kind for place in reading.places] == ["body", "heading"]


def test_headings_have_the_numbers_of_the_outline() -> None:
    outline = (
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I" style:num-suffix="."/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>'
    )
    headings = [(1, "One"), (2, "Two"), (2, "Three"), (1, "Four"), (2, "Five")]
    body = "".join(f'<text:h text:outline-level="{level}">{words}</text:h>' for level, words in headings)
    assert read(body, outline).text.splitlines() == ["I. One", "I.1 Two", "I.2 Three", "II. Four", "II.1 Five"]


def test_lists_are_numbered_as_programs_show_them() -> None:
    body = (
        '<text:list text:style-name="L1" xml:id="a"><text:list-item><text:p>one</text:p><text:p>more of it</text:p>'
        "<text:list><text:list-item><text:p>inner</text:p><text:list><text:list-item><text:p>bullet</text:p>"
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>second</text:p></text:list-item>"
        '</text:list></text:list-item><text:list-item text:start-value="7"><text:p>seven</text:p></text:list-item>'
        "</text:list><text:p>between</text:p>"
        '<text:list text:style-name="L1" text:continue-list="a"><text:list-item><text:p>eight</text:p></text:list-item>'
        '</text:list><text:list text:style-name="L1"><text:list-header><text:p>bare</text:p></text:list-header>'
        "<text:list-item><text:p>again</text:p></text:list-item></text:list>"
    )
    assert read(body, BULLETS).text.splitlines() == [
        "1. one", "more of it", "(a) inner", "• bullet", "(b) second", "7. seven", "between", "8. eight", "bare",
        "1. again",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "value", "shown"),
    [("1", 12, "12"), ("a", 27, "aa"), ("A", 28, "AB"), ("i", 14, "xiv"), ("I", 1999, "MCMXCIX"), ("", 3, "")],
)
def test_numbers_have_the_shape_of_their_level(shape: str, value: int, shown: str) -> None:
    styles = (
        f'<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="{shape}"'
        f' text:start-value="{value}"/></text:list-style>'
    )
    body = '<text:list text:style-name="L1"><text:list-item><text:p>words</text:p></text:list-item></text:list>'
    assert read(body, styles).text == f"{shown} words\n".lstrip()


def test_a_number_stands_without_words_and_a_bullet_does_not() -> None:
    """The accounts of a meeting: the item holds a spreadsheet alone."""
    body = (
        '<text:list text:style-name="L1"><text:list-item><text:p>Accounts</text:p></text:list-item><text:list-item>'
        "<text:p><draw:frame><draw:object/></draw:frame></text:p><text:p>and adopted</text:p><text:list>"
        "<text:list-item><text:p>inner</text:p><text:list><text:list-item><text:p/></text:list-item></text:list>"
        "</text:list-item></text:list></text:list-item></text:list>"
    )
    assert read(body, BULLETS).text.splitlines() == ["1. Accounts", "2.", "and adopted", "(a) inner"]


def test_tables_are_rows_of_cells_and_empty_ones_keep_their_place() -> None:
    body = (
        '<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned="2">'
        "<text:p>Name</text:p></table:table-cell><table:covered-table-cell/><table:table-cell><text:p>2023</text:p>"
        "</table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell>"
        "<text:p>Rent</text:p><text:p>paid late</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="1"/><table:table-cell><text:p>12</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    reading = read(body)
    assert reading.text == "Name\t\t2023\nRent paid late\t\t12\n"
    assert places(reading, "table") == [("table", "1", reading.text.strip("\n"))]
    assert ("cell", "row “Rent paid late”, column “2023”", "12") in places(reading, "cell")


def table(*rows: tuple[str, ...]) -> str:
    return "<table:table>{}</table:table>".format(
        "".join(
            "<table:table-row>"
            + "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
            + "</table:table-row>"
            for cells in rows
        )
    )


def p(words: str) -> str:
    return f"<text:p>{words}</text:p>"


@pytest.mark.parametrize(
    ("inner", "text", "tables"),
    [
        (table((p("a"), p("1")), (p("b"), p("2"))), "Fees\tas below\tend\na\t1\nb\t2\nTerm\n", 3),
        (table((p("a"), p("1"))), "Fees\tas below a 1\tend\nTerm\n", 1),
    ],
    ids=["rows", "one row"],
)
def test_a_table_in_a_cell_stands_below_its_row(inner: str, text: str, tables: int) -> None:
    reading = read(table((p("Fees"), p("as below") + inner, p("end")), (p("Term"),)))
    assert reading.text == text
    assert len(places(reading, "table")) == tables


def test_what_is_anchored_comes_after_its_paragraph() -> None:
    body = (
        '<text:p>The rent<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body>"
        "<text:p>Net of tax.</text:p></text:note-body></text:note> is due"
        "<office:annotation><dc:creator>A. Author</dc:creator><dc:date>2024-05-01T10:00:00.123</dc:date>"
        "<text:p>Is this agreed?</text:p></office:annotation>.<draw:frame draw:name='Box'><draw:text-box>"
        "<text:p>Boxed words</text:p></draw:text-box></draw:frame><draw:frame draw:name='Pic'><draw:image/>"
        "<svg:desc>Bar chart: 4m, 9m</svg:desc></draw:frame></text:p><text:p>After</text:p>"
    )
    reading = read(body)
    assert reading.text.splitlines() == [
        "The rent is due.",
        "Net of tax.",
        "[comment, A. Author, 2024-05-01T10:00:00: Is this agreed?]",
        "Boxed words",
        "Bar chart: 4m, 9m",
        "After",
    ]
    assert places(reading, "footnote", "comment", "text_box", "alternative_text") == [
        ("footnote", "1", "Net of tax."),
        ("comment", "A. Author, 2024-05-01T10:00:00", reading.text.splitlines()[2]),
        ("text_box", "Box", "Boxed words"),
        ("alternative_text", "Pic", "Bar chart: 4m, 9m"),
    ]


def change(id_: str, kind: str, content: str = "") -> str:
    return (
        f'<text:changed-region text:id="{id_}"><text:{kind}><office:change-info><dc:creator>B. Editor</dc:creator>'
        f"<dc:date>2024-06-0{id_[-1]}T09:00:00</dc:date></office:change-info>{content}</text:{kind}></text:changed-region>"
    )


def test_tracked_changes_insertions_are_places_deletions_a_warning() -> None:
    body = (
        f"<text:tracked-changes>{change('c1', 'insertion')}{change('c2', 'deletion', paragraph('secret'))}"
        "</text:tracked-changes><text:p>Due in <text:change-start text:change-id='c1'/>thirty days</text:p>"
        "<text:p>or sixty<text:change-end text:change-id='c1'/> days<text:change text:change-id='c2'/></text:p>"
    )
    reading = read(body)
    assert reading.text == "Due in thirty days\nor sixty days\n"
    assert places(reading, "inserted") == [("inserted", "B. Editor, 2024-06-01T09:00:00", "thirty days\nor sixty")]
    assert reading.warnings == ["Deleted text that is still in the file was left out (B. Editor, 2024-06-02T09:00:00)."]


def test_headers_stand_first_and_footers_last() -> None:
    masters = (
        "<style:master-page><style:header><text:p>Strictly private</text:p></style:header>"
        "<style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page>"
    )
    reading = read(paragraph("Words"), masters=masters)
    assert reading.text == "Strictly private\nWords\nPage 1\n"
    assert [place.kind for place in reading.places] == ["header", "body", "footer"]


def test_a_chart_gives_its_words_and_numbers_and_a_document_inside_is_attached() -> None:
    chart = content(
        "chart",
        "<chart:chart><chart:title><text:p>Revenue</text:p></chart:title><table:table><table:table-row>"
        "<table:table-cell><text:p>2023</text:p></table:table-cell><table:table-cell><text:p>9.4</text:p>"
        "</table:table-cell></table:table-row></table:table></chart:chart>",
    )
    body = (
        '<text:p>See<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
        '<draw:frame><draw:object xlink:href="./Object 2"/></draw:frame>'
        '<draw:frame><draw:object xlink:href="../../etc/passwd"/></draw:frame></text:p>'
    )
    inner = content("text", paragraph("Inner words"))
    reading = read(body, **{"Object 1__content_DOT_xml": chart, "Object 2__content_DOT_xml": inner})
    assert reading.text == "See\nRevenue\n2023\t9.4\n\fEmbedded document: Object 2.odt\nInner words\n"


def test_a_flat_file_is_read_like_a_package() -> None:
    flat = content("text", paragraph("Flat words"), root="document").encode()
    assert read_document(flat, ".fodt").text == "Flat words\n"


def test_encrypted_cut_off_and_foreign_files() -> None:
    encrypted = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>"
    with pytest.raises(PasswordProtected):
        read(paragraph("x"), **{"META-INF__manifest_DOT_xml": encrypted})
    whole = package("text", "".join(paragraph(f"words {number}") for number in range(2000)))
    cut = read_document(whole[: len(whole) // 2], ".odt")
    assert "words 10\n" in cut.text
    assert any("cut off" in warning for warning in cut.warnings)
    for data in (b"", b"junk", b"<x/>", b"<", package("presentation", "<x/>")[:100]):
        with pytest.raises(Damaged):
            read_document(data, ".odt")
    assert read("").warnings == [NO_TEXT]


def test_entities_and_documents_from_outside_are_not_opened() -> None:
    hostile = content("text", "<text:p>a&secret;b</text:p>", root="document").replace(
        "?>", '?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>', 1
    )
    assert "root:" not in read_document(hostile.encode(), ".fodt").text


@pytest.mark.parametrize(
    "body",
    [
        "<text:p>" + "<text:span>" * 5000 + "deep" + "</text:span>" * 5000 + "</text:p>",
        "<text:section>" * 200 + paragraph("deep") + "</text:section>" * 200,
        "<text:list><text:list-item>" * 100 + paragraph("deep") + "</text:list-item></text:list>" * 100,
        (
            '<table:table><table:table-row table:number-rows-repeated="999999999"><table:table-cell'
            ' table:number-columns-repeated="999999999"><text:p>deep</text:p></table:table-cell></table:table-row>'
            "</table:table>"
        ),
        '<text:p>deep<text:s text:c="99999999999"/></text:p>',
        (
            '<text:list text:style-name="L1"><text:list-item text:start-value="999999999999"><text:p>deep</text:p>'
            "</text:list-item></text:list>"
        ),
    ],
    ids=["spans", "sections", "lists", "repeats", "spaces", "numbers"],
)
def test_what_nests_or_repeats_without_end_is_bounded(body: str) -> None:
    reading = read(body, BULLETS)
    assert "deep" in reading.text or CUT_OFF in reading.warnings
    assert len(reading.text) < 10_000_000


def test_bytes_and_names_that_no_file_may_have_cost_no_words_beside_them() -> None:
    whole = package(
        "text", paragraph("Before") + paragraph("R*nt") + "<draw:frame><+x/></draw:frame>" + paragraph("After")
    )
    with ZipFile(BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["content.xml"] = parts["content.xml"].replace(b"R*nt", b"R\xe9n&#xD800;t")
    damaged = BytesIO()
    with ZipFile(damaged, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    reading = read_document(damaged.getvalue(), ".odt")
    assert reading.text.split() == ["Before", "R\ufffdn\ufffdt", "After"]
    assert "damaged" in reading.warnings[0]
