"""What Word adds to a text, or keeps beside it: numbers of lists, remarks, insertions, deletions."""

from pathlib import Path

import pytest

from tasks.reading.docx import reader
from tasks.reading.text_writer import Reading
from tests.cases import cases
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import NAMES, p, relationships

EDITED = 'w:author="B. Editor" w:date="2024-06-01T10:00:00Z"'


def level(number: int, kind: str, text: str, more: str = "") -> str:
    shape = f'<w:start w:val="1"/><w:numFmt w:val="{kind}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{number}">{shape}</w:lvl>'


SYMBOL = "\uf0b7"
NUMBERING = (
    f'<w:numbering {NAMES}><w:abstractNum w:abstractNumId="1">'
    + level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)")
    + level(3, "lowerRoman", "(%4)") + level(4, "upperRoman", "%1.%5", "<w:isLgl/>")
    + f'</w:abstractNum><w:abstractNum w:abstractNumId="2">{level(0, "bullet", SYMBOL)}</w:abstractNum>'
    + '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>'
    + '<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    + "</w:lvlOverride></w:num></w:numbering>"
)  # fmt: skip


def item(depth: int, text: str, number: int = 1) -> str:
    listed = f'<w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
    return f"<w:p>{listed}<w:r><w:t>{text}</w:t></w:r></w:p>"


def read(folder: Path, body: str, **parts: str) -> Reading:
    related = relationships(*((name, f"{name}.xml") for name in parts))
    named: dict[str, str | bytes] = {f"word/{name}.xml": content for name, content in parts.items()}
    return reader.read(packages.docx(folder / "a.docx", body, {"word/_rels/document.xml.rels": related, **named}))


def lines(folder: Path, body: str) -> list[str]:
    return read(folder, body, numbering=NUMBERING).text.splitlines()


def test_paragraphs_have_the_numbers_that_word_shows(tmp_path: Path) -> None:
    body = item(0, "One") + item(1, "Sub") + item(2, "Letter") + item(2, "Next") + item(3, "Roman") + item(0, "Two")
    assert lines(tmp_path, body) == ["1. One", "1.1 Sub", "(a) Letter", "(b) Next", "(i) Roman", "2. Two"]


def test_lower_levels_begin_again_below_a_higher_one(tmp_path: Path) -> None:
    body = item(0, "One") + item(1, "Sub") + item(0, "Two") + item(1, "Sub")
    assert lines(tmp_path, body)[-1] == "2.1 Sub"


def test_a_list_may_begin_elsewhere_and_bullets_are_bullets(tmp_path: Path) -> None:
    assert lines(tmp_path, item(0, "Seven", 3) + item(0, "Point", 2)) == ["7. Seven", "• Point"]


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16"])
def test_alternative_texts_are_read_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
    picture = (
        f'<w:drawing xmlns:wp="{drawing}"><wp:inline><wp:docPr id="1" name="a" descr="Größe"/></wp:inline></w:drawing>'
    )
    body = f"<w:p><w:r><w:t>above</w:t>{picture}</w:r></w:p>"
    whole = f'<?xml version="1.0" encoding="{encoding}"?><w:document {NAMES}><w:body>{body}</w:body></w:document>'
    data = whole.encode(encoding)
    path = packages.docx(tmp_path / "a.docx", "", {"word/document.xml": data})
    assert reader.read(path).text == "above\nGröße\n"


@cases("space", ["", " "])
@cases(
    ("attributes", "expected"),
    [
        ('descr{}="A red kite"', ["above", "A red kite"]),
        ('title{}="A red kite"', ["above", "A red kite"]),
        ('descr{}="kite.png"', ["above"]),
        ('descr{}="https://example.org/kite"', ["above"]),
        ('descr{}="Picture 7"', ["above"]),
    ],
)
def test_names_of_files_are_no_alternative_texts(
    tmp_path: Path, attributes: str, expected: list[str], space: str
) -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/"
    named = f'id="1" name="a" {attributes.format(space)}'
    inner = f'<pic:pic xmlns:pic="{drawing}picture"><pic:nvPicPr><pic:cNvPr {named}/></pic:nvPicPr></pic:pic>'
    outer = f'<wp:inline xmlns:wp="{drawing}wordprocessingDrawing"><wp:docPr {named}/>{inner}</wp:inline>'
    body = f"<w:p><w:r><w:t>above</w:t><w:drawing>{outer}</w:drawing></w:r></w:p>"
    assert read(tmp_path, body).text.splitlines() == expected


@pytest.mark.parametrize("words", ["kite.wmf", "A red kite"])
def test_names_of_files_are_no_alternative_texts_of_old_shapes_either(tmp_path: Path, words: str) -> None:
    shape = f'<w:pict><v:shape alt = "{words}" style="width:9pt"/></w:pict>'
    text = read(tmp_path, f"<w:p><w:r><w:t>above</w:t>{shape}</w:r></w:p>").text
    assert text.splitlines() == ["above"] + [words] * (words == "A red kite")


@cases(
    ("usual", "odd"),
    [
        ('<w:num w:numId="2"', '<w:num\n w:numId = "2"'),
        ("</w:num>", "</w:num >"),
        ("</w:lvl>", "</w:lvl >"),
        ("</w:abstractNum>", "</w:abstractNum\n>"),
        ('<w:abstractNum w:abstractNumId="2"', '<w:abstractNum w:x="1"\tw:abstractNumId= "2"'),
    ],
)
def test_white_space_in_one_tag_changes_no_number(tmp_path: Path, usual: str, odd: str) -> None:
    assert usual in NUMBERING
    body = item(0, "One") + item(1, "Sub") + item(0, "Point", 2) + item(0, "Seven", 3)
    spaced = NUMBERING.replace(usual, odd, 1)
    assert read(tmp_path, body, numbering=spaced).text.splitlines() == ["1. One", "1.1 Sub", "• Point", "7. Seven"]


@pytest.mark.parametrize("named", ['<w:pStyle w:val="ListParagraph"/>', "<w:pStyle\n w:val = 'ListParagraph' />"])
def test_a_level_that_is_made_for_one_of_word_s_own_styles_counts_its_paragraphs(tmp_path: Path, named: str) -> None:
    numbering = NUMBERING.replace("<w:lvlText", f"{named}<w:lvlText", 1)
    styles = (
        f'<w:styles {NAMES}><w:style w:type="paragraph" w:styleId="ListParagraph"><w:name w:val="List Paragraph"/>'
        '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>'
    )
    body = '<w:p><w:pPr><w:pStyle w:val="ListParagraph"/></w:pPr><w:r><w:t>One</w:t></w:r></w:p>'
    assert read(tmp_path, body, numbering=numbering, styles=styles).text == "1. One\n"


def test_white_space_in_tags_changes_no_number(tmp_path: Path) -> None:
    spaced = NUMBERING.replace('"/>', '"\n\t/>').replace("</w:num>", "</w:num\n>").replace(' w:val="', '\n w:val =\t"')
    body = item(0, "One") + item(1, "Sub") + item(0, "Point", 2) + item(0, "Two")
    body = body.replace("</w:pPr>", "</w:pPr\n>").replace("</w:p>", "</w:p >")
    assert read(tmp_path, body, numbering=spaced).text.splitlines() == ["1. One", "1.1 Sub", "• Point", "2. Two"]


def test_the_number_0_takes_a_paragraph_out_of_its_list(tmp_path: Path) -> None:
    assert lines(tmp_path, item(0, "One") + item(0, "Plain", 0) + item(0, "Two")) == ["1. One", "Plain", "2. Two"]


def test_legal_numbers_are_arabic(tmp_path: Path) -> None:
    assert lines(tmp_path, item(0, "One") + item(4, "Legal"))[-1] == "1.1 Legal"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("hebrew1", "1. 9. 15. 123."),
        ("ordinalText", "First. Ninth. Fifteenth. 123."),
        ("upperRoman", "I. IX. XV. CXXIII."),
        ("hex", "1. 9. F. 7B."),
    ],
)
def test_numbers_are_written_as_their_list_says(tmp_path: Path, kind: str, shown: str) -> None:
    starts = (1, 9, 15, 123)
    definitions = "".join(
        f'<w:abstractNum w:abstractNumId="{start}"><w:lvl w:ilvl="0"><w:start w:val="{start}"/>'
        f'<w:numFmt w:val="{kind}"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
        for start in starts
    )
    lists = "".join(f'<w:num w:numId="{start}"><w:abstractNumId w:val="{start}"/></w:num>' for start in starts)
    body = "".join(item(0, "x", start) for start in starts)
    reading = read(tmp_path, body, numbering=f"<w:numbering {NAMES}>{definitions}{lists}</w:numbering>")
    assert reading.text.replace(" x\n", " ").strip() == shown


CHOICES = '<w:listEntry w:val="at will"/><w:listEntry w:val="on &quot;notice&quot;"/>'


@cases(
    ("chosen", "words", "shown"),
    [
        ("", "", "Ends at will."),
        ('<w:result w:val="1"/>', "", 'Ends on "notice".'),
        ('<w:default w:val="1"/>', "", 'Ends on "notice".'),
        ('<w:result w:val="7"/>', "", "Ends ."),
        ('<w:result w:val="1"/>', "<w:r><w:t>on notice</w:t></w:r>", "Ends on notice."),
    ],
)
def test_what_is_chosen_in_a_form_is_text(tmp_path: Path, chosen: str, words: str, shown: str) -> None:
    def field(kind: str, more: str = "") -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}">{more}</w:fldChar></w:r>'

    form = field("begin", f"<w:ffData><w:ddList>{chosen}{CHOICES}</w:ddList></w:ffData>")
    body = (
        f"<w:p><w:r><w:t>Ends </w:t></w:r>{form}{field('separate')}{words}{field('end')}<w:r><w:t>.</w:t></w:r></w:p>"
    )
    assert read(tmp_path, body).text == f"{shown}\n"


def test_inserted_words_know_their_author(tmp_path: Path) -> None:
    body = f"<w:p><w:r><w:t>The rent </w:t></w:r><w:ins {EDITED}><w:r><w:t>is due</w:t></w:r></w:ins></w:p>"
    reading = read(tmp_path, body)
    assert reading.text == "The rent is due\n"
    inserted = next(place for place in reading.places if place.kind == "inserted")
    assert reading.text[inserted.start : inserted.end] == "is due"
    assert inserted.label == "B. Editor, 2024-06-01T10:00:00Z"


def test_deleted_words_stay_out_and_a_warning_names_who_deleted_them(tmp_path: Path) -> None:
    deleted = f"<w:del {EDITED}><w:r><w:delText>never</w:delText></w:r></w:del>"
    reading = read(tmp_path, f"<w:p><w:r><w:t>It is </w:t></w:r>{deleted}<w:r><w:t>due</w:t></w:r></w:p>")
    assert reading.text == "It is due\n"
    assert reading.warnings == ["Deleted text was left out (B. Editor, 2024-06-01T10:00:00Z)."]


def test_a_remark_is_marked_in_the_text(tmp_path: Path) -> None:
    remark = (
        f'<w:comments {NAMES}><w:comment w:id="1" w:author="A. Author" w:date="2024-05-01T10:00:00Z">{p("Agreed?")}'
    )
    body = '<w:p><w:r><w:t>Due</w:t></w:r><w:r><w:commentReference w:id="1"/></w:r></w:p>'
    reading = read(tmp_path, body, comments=f"{remark}</w:comment></w:comments>")
    assert reading.text == "Due\n[comment, A. Author, 2024-05-01T10:00:00Z: Agreed?]\n"
    assert [place.label for place in reading.places if place.kind == "comment"] == ["A. Author, 2024-05-01T10:00:00Z"]


@pytest.mark.parametrize("drawn", ["", '<w:r><w:sym w:font="Symbol" w:char="0041"/></w:r>'], ids=["words", "a symbol"])
def test_remarks_of_words_alone_are_read_as_others_are(drawn: str, tmp_path: Path) -> None:
    paragraphs = (
        '<w:p><w:pPr><w:pStyle w:val="CommentText"/></w:pPr><w:r><w:t>One &amp;amp; all</w:t></w:r></w:p><w:p/>'
    )
    remark = f'<w:comments {NAMES}><w:comment w:id="1">{paragraphs}<w:p><w:r><w:t>Two</w:t></w:r>{drawn}</w:p>'
    body = '<w:p><w:r><w:t>Due</w:t></w:r><w:r><w:commentReference w:id="1"/></w:r></w:p>'
    reading = read(tmp_path, body, comments=f"{remark}</w:comment></w:comments>", numbering=NUMBERING)
    assert reading.text == f"Due\n[comment: One &amp; all Two{'A' if drawn else ''}]\n"


def test_a_remark_keeps_its_numbers(tmp_path: Path) -> None:
    remark = f'<w:comments {NAMES}><w:comment w:id="1">{item(0, "First")}{item(0, "Second")}</w:comment></w:comments>'
    body = '<w:p><w:r><w:t>Due</w:t></w:r><w:r><w:commentReference w:id="1"/></w:r></w:p>'
    assert read(tmp_path, body, comments=remark, numbering=NUMBERING).text == "Due\n[comment: 1. First 2. Second]\n"


def test_tables_that_follow_each_other_are_two(tmp_path: Path) -> None:
    def table(words: str) -> str:
        return f"<w:tbl><w:tr><w:tc>{p(words)}</w:tc><w:tc>{p('1')}</w:tc></w:tr></w:tbl>"

    reading = read(tmp_path, table("One") + table("Two"))
    assert reading.text == "One\t1\n\nTwo\t1\n"
    tables = [place for place in reading.places if place.kind == "table"]
    assert [reading.text[place.start : place.end].strip() for place in tables] == ["One\t1", "Two\t1"]


def test_a_row_that_is_repeated_on_each_page_is_a_header(tmp_path: Path) -> None:
    rows = f"<w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc>{p('2023')}</w:tc></w:tr><w:tr><w:tc>{p('120')}</w:tc></w:tr>"
    reading = read(tmp_path, f"<w:tbl>{rows}</w:tbl>")
    assert [place.label for place in reading.places if place.kind == "table"] == ["1"]


def test_a_page_of_html_within_is_read_in_its_place(tmp_path: Path) -> None:
    body = p("Before") + '<w:altChunk r:id="rId1"/>' + p("Behind")
    page = "<html><body><p>Within <b>it</b></p></body></html>"
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("aFChunk", "chunk.html")),
        "word/chunk.html": page,
    }
    reading = reader.read(packages.docx(tmp_path / "a.docx", body, parts))
    assert reading.text == "Before\nWithin it\nBehind\n"


@pytest.mark.parametrize("text", ["%1" * 5000, "%9%8%7"])
def test_numbers_stay_bounded_whatever_their_pattern_is(tmp_path: Path, text: str) -> None:
    hostile = NUMBERING.replace('w:val="%1."', f'w:val="{text}"')
    reading = read(tmp_path, item(0, "x") * 2000, numbering=hostile)
    assert len(reading.text) < 2_000_000
    assert reading.text.count("x") == 2000


def test_notes_of_one_id_stand_together_where_it_is_referred_to(tmp_path: Path) -> None:
    body = "<w:p><w:r><w:t>words</w:t><w:footnoteReference w:id='1'/></w:r></w:p>" + p("more")
    notes = "".join(
        f"<w:footnote {kind}w:id='{name}'>{p(words)}</w:footnote>"
        for kind, name, words in (
            ("", "1", "first"), ("w:type='separator' ", "0", ""), ("", "2", "left"), ("", "1", "second"),
        )
    )  # fmt: skip
    reading = read(tmp_path, body, footnotes=f"<w:footnotes {NAMES}>{notes}</w:footnotes>")
    assert reading.text.splitlines() == ["words", "first", "second", "more", "left"]
    assert [place.kind for place in reading.places if place.kind == "footnote"] == ["footnote"] * 3
