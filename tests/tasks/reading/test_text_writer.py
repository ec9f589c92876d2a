"""The promises of the text that every reader writes."""

from tasks.language.normalise import clean
from tasks.reading.text_writer import Place, Reading, Writer
from tests.cases import cases


def test_places_hold_what_was_written_within_them() -> None:
    writer = Writer()
    with writer.part("sheet", "Cap table"):
        writer.line("Cap table")
        with writer.place("cells", "A1:B2"):
            writer.line("Founders\t60%")
    with writer.part("sheet", "Pool"):
        writer.line("Options\t10%")
    reading = writer.reading()
    assert reading.text == "Cap table\nFounders\t60%\n\fOptions\t10%\n"
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places] == [
        ("sheet", "Cap table", "Cap table\nFounders\t60%\n"),
        ("cells", "A1:B2", "Founders\t60%\n"),
        ("sheet", "Pool", "Options\t10%\n"),
    ]


def test_text_that_is_placed_stands_where_it_was_written_and_nowhere_without_words() -> None:
    writer = Writer()
    with writer.part("slide", "1"):
        writer.placed("shape", " Title\n1", "\nOur plan\x07\n\n")
        writer.placed("shape", "empty", " \n\t")
    reading = writer.reading()
    assert (reading.text, reading.places) == ("Our plan\n", [(0, 9, "slide", "1"), (0, 9, "shape", "Title 1")])


def test_a_heading_reaches_to_the_next_one() -> None:
    writer = Writer()
    writer.line("before")
    writer.heading("Term ")
    writer.line("Term")
    writer.line("two years")
    writer.heading("Fees")
    writer.line("Fees")
    reading = writer.reading()
    assert [(place.label, reading.text[place.start : place.end]) for place in reading.places] == [
        ("Term", "Term\ntwo years\n"),
        ("Fees", "Fees\n"),
    ]


@cases(
    ("dirty", "tidy"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("page\fbreak\vtab", "page\nbreak\ntab"),
        ("nul\0bell\x07", "nulbell"),
        ("half \ud83d character", "half \ufffd character"),
        ("kept: é 漢 😀 \t", "kept: é 漢 😀 \t"),
    ],
)
def test_characters_that_cannot_be_stored_go(dirty: str, tidy: str) -> None:
    assert clean(dirty) == tidy
    tidy.encode("utf-8")


def test_form_feeds_stand_between_pages_alone() -> None:
    writer = Writer()
    for label in ("1", "2", "3"):
        with writer.part("page", label):
            if label != "2":
                writer.text("a\fb\n\n")
    reading = writer.reading()
    assert reading.text == "a\nb\n\f\fa\nb\n"
    assert [place.label for place in reading.places] == ["1", "3"]


def test_white_space_alone_is_no_text() -> None:
    writer = Writer()
    for label in ("1", "2"):
        with writer.part("page", label):
            writer.line(" ")
    writer.warn("nothing")
    writer.warn("nothing")
    assert writer.reading() == Reading("", [], ["nothing"], pages=2)


def test_a_place_is_a_plain_tuple() -> None:
    assert Place(0, 4, "page", "3") == (0, 4, "page", "3")
