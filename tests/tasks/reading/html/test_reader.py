"""Pages of HTML: what a browser shows, line by line, and none of what it hides."""

from tasks.reading.html import reader
from tests.cases import cases


def text_of(markup: str) -> str:
    return reader.read(f"<!DOCTYPE html><meta charset=utf-8>{markup}".encode()).text


def places_of(markup: str) -> list[tuple[str, str, str]]:
    reading = reader.read(f"<!DOCTYPE html><meta charset=utf-8>{markup}".encode())
    return [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places]


@cases(
    ("markup", "text"),
    [
        ("<p>one\n  two<p>three", "one two\nthree\n"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc\n"),
        ("re<b>ven</b>ue<br>next<br><br>last", "revenue\nnext\nlast\n"),
        ("<p>R&amp;D &lt; 5&nbsp;% &#8364; &hellip;", "R&D < 5\xa0% € …\n"),
        ("<pre>\n a\n   b</pre>", " a\n   b\n"),
        (
            "a <!-- note --> b<script>x()</script><style>p{}</style><template>t</template><noscript>on!</noscript>",
            "a b\n",
        ),
        ('see <a href="https://a.example">the annex</a>.', "see the annex.\n"),
        ("<span style='display: block'>a</span><span style='display:block'>b</span>", "a\nb\n"),
        ("<p>10 <span>000</span></p>text<p>", "10 000\ntext\n"),
    ],
)
def test_text_is_put_into_lines_as_a_browser_does(markup: str, text: str) -> None:
    assert text_of(markup) == text


def test_the_title_comes_first_unless_the_first_heading_says_the_same() -> None:
    assert text_of("<title>Offer</title><h1>Terms</h1>") == "Offer\nTerms\n"
    assert text_of("<title>Offer</title><h1>Of<i>fer</i></h1><p>x") == "Offer\nx\n"


def test_headings_are_places_to_the_next_one() -> None:
    assert places_of("<h1>A<br>B</h1><p>one</p><h2>C</h2>two") == [
        ("heading", "A B", "A\nB\none\n"),
        ("heading", "C", "C\ntwo\n"),
    ]


@cases(
    ("markup", "lines"),
    [
        ("<ul><li>a<ul><li>b</ul><li><p>c</p></ul>", ["• a", "◦ b", "• c"]),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", ["3. a", "7. b", "8. c"]),
        ("<ol type=a><li>x<li>y</ol>", ["a. x", "b. y"]),
        ('<ol style="list-style-type: upper-roman" start=9><li>x<li>y</ol>', ["IX. x", "X. y"]),
        ("<ol reversed start=2><li>x<li>y</ol>", ["2. x", "1. y"]),
        ("<ul style='list-style: none'><li>x</ul>", ["x"]),
    ],
)
def test_list_items_carry_the_bullet_or_number_that_is_shown(markup: str, lines: list[str]) -> None:
    assert text_of(markup).splitlines() == lines


@cases(
    ("rows", "lines"),
    [
        ("<tr><td>a<td><td>c<tr><td>d<td>e\n<p>f", ["a\t\tc", "d\te f"]),
        ("<tr><td rowspan=2>a<td>b<tr><td>c", ["a\tb", "\tc"]),
        ("<tr><td>a<td>b<td>c<tr><td colspan=2>d<td>e", ["a\tb\tc", "d\t\te"]),
        ("<tr><td colspan=3>a<td colspan=3>b<tr><td colspan=3>c<td colspan=3>d", ["a\tb", "c\td"]),
        ("<tr><td>a\tb<td>c<br>d<tr><td><td>", ["a b\tc d"]),
    ],
)
def test_rows_are_lines_and_cells_keep_their_columns(rows: str, lines: list[str]) -> None:
    assert text_of(f"<table>{rows}</table>").splitlines() == lines


def test_signs_in_columns_of_their_own_join_their_figures() -> None:
    table = (
        "<table><tr><td><td></td><td colspan=3>2023<td></td><td colspan=3>2022"
        "<tr><td>Profit<td><td>$<td>1,200<td><td><td>$<td>900<td>"
        "<tr><td>Loss<td><td><td>(30<td>)<td><td><td>(20<td>)</table>"
    )
    assert text_of(table).splitlines() == ["\t2023\t2022", "Profit\t$ 1,200\t$ 900", "Loss\t(30)\t(20)"]


def test_a_table_is_a_place_that_knows_its_header_rows() -> None:
    rows = "<thead><tr><th>Item<th>2023</thead><tr><td>Rent<td>5"
    assert places_of(f"<table>{rows}</table>") == [("table", "1", "Item\t2023\nRent\t5\n")]
    assert places_of("<table><tr><td>Rent<td>5</table>") == [("table", "", "Rent\t5\n")]


def test_a_table_that_arranges_the_page_is_no_table() -> None:
    inner = "<table><tr><td>a<td>b</table>"
    assert places_of(f"<table><tr><td><h2>Menu</h2><p>one</p><td>{inner}</table>") == [
        ("heading", "Menu", "Menu\none\na\tb\n"),
        ("table", "", "a\tb\n"),
    ]
    assert text_of(f"<table border=1><tr><td>x<td>{inner}</table>") == "x\ta b\n"


def test_alternative_text_is_a_place_below_its_paragraph_or_in_its_cell() -> None:
    assert places_of('<p>see <img alt="Sales by year"> here') == [("alternative_text", "", "Sales by year\n")]
    assert text_of('<p>see <img alt="Sales by year"> here') == "see here\nSales by year\n"
    assert places_of('<table><tr><td>Signed<td><img alt="yes"></table>')[1] == ("alternative_text", "", "yes")


def test_form_values_are_read_as_they_stand() -> None:
    form = (
        '<p>Name <input value="Ada"> <input type=checkbox checked>agreed <input type=hidden value=x>'
        "<select><option>DE<option selected>FR</select></p><textarea>two\nlines</textarea>"
    )
    assert text_of(form) == "Name Ada ☒ agreed FR\ntwo\nlines\n"


@cases(
    "hidden",
    [
        "<p hidden>evil</p>", "<div style='color:red; DISPLAY : none'><p>evil</p></div>",
        "<p style='visibility:hidden'>evil</p>", "<p style='font-size:0'>evil</p>", "<p style='opacity: 0;'>evil</p>",
        "<style>/* x */ .a, p.off { display:none }</style><p class='b off'>evil</p>",
        "<style>#k{color:red;display:none}</style><p id=k>evil</p>", "<dialog>evil</dialog>",
        "<span style='mso-hide:all'>evil</span>",
    ],
)  # fmt: skip
def test_hidden_text_stays_out_and_a_warning_tells(hidden: str) -> None:
    reading = reader.read(f"<p>seen</p>{hidden}<p>too".encode())
    assert reading.text == "seen\ntoo\n"
    assert "hides text" in reading.warnings[0]
    assert "evil" not in reading.warnings[0]


@cases(
    "shown",
    [
        "<p style='font-size:0.9em;opacity:0.5'>x</p>", "<p aria-hidden=true>x</p>",
        "<style>@media print { p { display:none } }</style><p>x</p>",
        "<style>.menu p { display:none }</style><p>x</p>", "<details>x</details>",
    ],
)  # fmt: skip
def test_what_is_shown_is_read(shown: str) -> None:
    assert reader.read(shown.encode()).text == "x\n"
    assert reader.read(shown.encode()).warnings == []


def test_deleted_text_stays_out_and_inserted_text_is_a_place() -> None:
    page = (
        '<p>Price <del cite="mailto:Ann" datetime="2024-05-01">10</del> '
        '<ins cite="mailto:Ann" datetime="2024-05-01">12 EUR</ins> net'
    )
    assert text_of(page) == "Price 12 EUR net\n"
    assert places_of(page) == [("inserted", "Ann, 2024-05-01", "12 EUR")]
    assert reader.read(page.encode()).warnings == ["Deleted text was left out (Ann, 2024-05-01)."]


@cases(
    "data",
    [
        b"\xef\xbb\xbf" + "<p>Größe €".encode(),
        b"\xff\xfe" + "<p>Größe €".encode("utf-16-le"),
        b"<meta charset=windows-1252>" + "<p>Größe €".encode("cp1252"),
        b'<?xml version="1.0" encoding="iso-8859-15"?><html xmlns="http://www.w3.org/1999/xhtml"><p>'
        + "Größe €</p></html>".encode("iso8859-15"),
        "<p>Größe €".encode(),
    ],
)
def test_the_encoding_is_found(data: bytes) -> None:
    assert reader.read(data).text == "Größe €\n"
    assert reader.read(data).warnings == []


def test_xhtml_closes_its_elements_and_quotes_its_characters() -> None:
    page = '<?xml version="1.0"?><html><head><script src="x"/><title/></head><body><p>a<br/>b <![CDATA[<c> & d]]></p>'
    assert reader.read(page.encode()).text == "a\nb <c> & d\n"


def test_lines_for_documents_that_hold_pages() -> None:
    page = "<title>x</title><h1>Part</h1><p>one<br>two</p><table><tr><td>a<td>b</table>"
    assert reader.read_lines(page.encode()) == ["Part", "one", "two", "a\tb"]
    assert reader.read_lines(b"") == []


def test_an_empty_page_is_an_empty_text() -> None:
    assert reader.read(b"").text == ""
    assert reader.read(b"").warnings == []
    assert reader.read(b"<p> </p>").warnings == ["No text was found: the document is empty or contains only pictures."]


@cases("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote"])
def test_deep_nesting_costs_no_words(tag: str) -> None:
    assert "end" in reader.read(b"<p>start" + f"<{tag}>".encode() * 20_000 + b"x<p>end").text
