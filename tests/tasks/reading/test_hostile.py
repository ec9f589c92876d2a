"""Files that mean harm end in a clear error or a bounded text: in 20 s, in 1 GB, with nothing asked for outside.

The pool's own limits are those 20 s and 1,024 MB. Beyond that most files have to end before they meet them.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tasks.errors import Damaged, DiligenceError, PasswordProtected, TooLarge
from tasks.reading.configuration import recognised
from tasks.reading.ocr import tesseract
from tasks.reading.ocr.page import ScanState
from tasks.reading.ocr.recognise import Engines, order_page, recognise_page
from tasks.reading.pool.pool import ExtractionPool, Limits
from tests.fuzz import watched
from tests.fuzz.promises import unclear
from tests.fuzz.verdict import judge
from tests.matrices import quick_cases
from tests.tasks.reading import hostile_files, hostile_lists, hostile_markup, hostile_notes, hostile_pdfs, hostile_texts
from tests.tasks.reading.hostile_files import MARKER
from tests.tasks.reading.ocr.scans import needs_tesseract

LONGEST_TEXT = 200_000_000
"""Characters; more would not fit into the limits."""


class Chosen(NamedTuple):
    """Which documents of a test are read: those with these names, or all others."""

    names: tuple[str, ...]
    others: bool

    def takes(self, name: str) -> bool:
        return (name in self.names) is not self.others


def some_and_others(*some: str) -> pytest.MarkDecorator:
    """Run a test with some of its documents and, in `make test-all`, once more with the others."""
    cases = [Chosen(some, others=False), pytest.param(Chosen(some, others=True), marks=pytest.mark.slow)]
    return pytest.mark.parametrize("only", cases, ids=["some", "others"])


class Outcome(NamedTuple):
    """What came of a document: the class of its error or None, its text, and what did not go as it should."""

    error: type[DiligenceError] | None
    text: str
    trouble: str


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(2, Limits(watched.LIMIT_SECONDS, watched.LIMIT_MB), watched.read) as pool:
        yield pool


@pytest.fixture
def read(pool: ExtractionPool, tmp_path: Path) -> "Reader":
    return Reader(pool, tmp_path)


class Reader(NamedTuple):
    """Reads documents through the pool, two at a time."""

    pool: ExtractionPool
    folder: Path

    def __call__(
        self, documents: Mapping[str, bytes | Callable[[], bytes]], only: Chosen | None = None
    ) -> dict[str, Outcome]:
        documents = {name: data for name, data in documents.items() if only is None or only.takes(name)}
        assert only is None or only.others or len(documents) == len(only.names)
        paths = {name: self.folder / name for name in documents}
        for name, path in paths.items():
            data = documents[name]
            path.write_bytes(data if isinstance(data, bytes) else data())
        futures = {name: self.pool.submit(path, path.suffix) for name, path in paths.items()}
        outcomes = {}
        for name, future in futures.items():
            verdict = judge(paths[name], paths[name].suffix, future)
            error = future.exception()
            text = "" if error is not None else future.result().text
            trouble = "" if verdict.fine else verdict.kind
            if verdict.peak_mb > watched.LIMIT_MB or len(text) > LONGEST_TEXT:
                trouble = f"{verdict.peak_mb:.0f} MB for {len(text):,} characters"
            if error is not None and MARKER in str(error):
                trouble = "the error holds words of the document"
            outcomes[name] = Outcome(type(error) if isinstance(error, DiligenceError) else None, text, trouble)
        return outcomes


def troubles(outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    return {name: outcome.trouble for name, outcome in outcomes.items() if outcome.trouble}


def unread(outcomes: Mapping[str, Outcome], words: str = MARKER) -> list[str]:
    return [name for name, outcome in outcomes.items() if words not in outcome.text]


# Archives


@some_and_others("part_declared_small.docx")
def test_parts_that_inflate_without_end_are_refused(read: Reader, only: Chosen) -> None:
    outcomes = read({
        "part.docx": hostile_files.huge_part(),
        "part_declared_small.docx": hostile_files.huge_part(size=10),
        "styles.docx": hostile_files.huge_styles(),
        "relationships.docx": hostile_files.huge_relationships(),
        "slide.pptx": hostile_files.huge_slide(),
        "sheet.xlsx": hostile_files.huge_sheet(),
        "strings.xlsx": hostile_files.strings_bomb(),
        "parts_that_overlap.docx": hostile_files.many_parts(),
    }, only)  # fmt: skip
    assert not troubles(outcomes)
    refused = {name for name, outcome in outcomes.items() if outcome.error is TooLarge}
    # Styles are not looked at where no paragraph asks for them, and a sheet is read up to its limits.
    assert refused == set(outcomes) - {"styles.docx", "sheet.xlsx"}


def test_a_small_part_that_declares_to_be_huge_is_read(read: Reader) -> None:
    data = hostile_files.changed(hostile_files.word(), b"PK\x01\x02", 24, b"\xff\xff\xff\x7f")
    assert not unread(read({"declared_huge.docx": data}))


@some_and_others("bomb.docx")
def test_documents_within_documents_leave_the_outer_one_readable(read: Reader, only: Chosen) -> None:
    outcomes = read({
        "thirty_deep.docx": hostile_files.embedded_in_each_other(),
        "three_thousand.docx": hostile_files.embedded_a_thousand_times(),
        "bomb.docx": hostile_files.embedded_bomb(),
        "huge.docx": hostile_files.embedded_huge(),
    }, only)  # fmt: skip
    assert not troubles(outcomes)
    assert not unread(outcomes)
    if "thirty_deep.docx" in outcomes:
        assert "level 29" in outcomes["thirty_deep.docx"].text
        assert "level 20" not in outcomes["thirty_deep.docx"].text


@pytest.mark.slow
def test_zips_that_lie_about_themselves_are_read_or_refused(read: Reader) -> None:
    sound = hostile_files.word()
    names = "../../../etc/passwd", "/etc/cron.d/x", "C:\\x", "a\0b", "word/", "\ufffe", "x" * 60_000
    outcomes = read({
        "many_entries.docx": hostile_files.with_entries(200_000),
        "counting_a_trillion.docx": hostile_files.counting(1 << 40),
        "headers_lost.docx": hostile_files.headers_lost(),
        "headers_alone.docx": hostile_files.headers_alone(),
        "main_part_twice.docx": hostile_files.main_part_twice(),
        "strange_names.docx": hostile_files.named(*names),
        "claims_beyond_4_gb.docx": hostile_files.beyond_4_gb(),
        "local_name_differs.docx": sound.replace(b"word/document.xml", b"evil/document.xml", 1),
        "local_name_too_long.docx": hostile_files.changed(sound, b"PK\x03\x04", 26, b"\xff\xff"),
        "local_headers_elsewhere.docx": hostile_files.changed(sound, b"PK\x01\x02", 42, b"\0\0\0\0"),
        "directory_elsewhere.docx": hostile_files.changed(sound, b"PK\x05\x06", 16, b"\xff\xff\xff\x7f"),
        "encrypted.docx": hostile_files.changed(sound, b"PK\x01\x02", 8, b"\x01\0"),
        "unknown_method.docx": hostile_files.changed(sound, b"PK\x01\x02", 10, b"\x63\0"),
        "many_disks.docx": hostile_files.changed(sound, b"PK\x05\x06", 4, b"\xff\xff\xff\xff"),
        "no_directory.docx": sound[: sound.index(b"PK\x01\x02")], "half.docx": sound[: len(sound) // 2],
        "twice.docx": sound + sound, "something_before.docx": b"#!/bin/sh\n" * 1000 + sound,
        "something_behind.docx": sound + b"PK\x05\x06" + b"\xff" * 18,
        "directory_alone.docx": sound[sound.index(b"PK\x01\x02") :],
    })  # fmt: skip
    assert not troubles(outcomes)
    refused = {
        "headers_alone.docx", "encrypted.docx", "unknown_method.docx", "directory_alone.docx",
        "local_headers_elsewhere.docx", "local_name_too_long.docx",
    }  # fmt: skip
    assert set(unread(outcomes)) <= refused | {"half.docx"}  # what is whole of it holds no words
    assert {name for name in refused if outcomes[name].error is None and not outcomes[name].text} == set()


def test_relationships_lead_nowhere_outside(read: Reader, canary: Path, listener: "Listener") -> None:
    targets = [
        "NULL", "#fragment", "document.xml#fragment", "", ".", "..", "/", "media/", "../../../../../../etc/passwd",
        "/etc/passwd", "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "%00", "%", "%zz%ff", "..\\..\\x", "C:\\x",
        "\\\\host\\share", "//host/share", "?a=b", canary.as_uri(), str(canary), "../" * 30 + str(canary)[1:],
        listener.url, "mailto:x@example.org", "a" * 60_000, "document.xml", "/word/document.xml",
        "_rels/document.xml.rels", "[Content_Types].xml", "é\u0301\U0001f600",
    ]  # fmt: skip
    documents = {f"{number}.docx": hostile_files.led_to(target) for number, target in enumerate(targets)}
    documents |= {f"{number}e.docx": hostile_files.led_to(target, "External") for number, target in enumerate(targets)}
    outcomes = read(documents)
    assert not troubles(outcomes)
    assert not unread(outcomes)
    assert not any(canary.read_text() in outcome.text for outcome in outcomes.values())
    assert listener.connections == 0


@pytest.mark.parametrize("extension", ["docx", "pptx", "xlsx", "pdf"])
def test_a_file_that_is_something_else_is_refused_or_read_as_what_it_is(read: Reader, extension: str) -> None:
    contents = {
        "empty": b"",
        "text": f"{MARKER} is an island.\n".encode() * 100,
        "web_page": b"<!DOCTYPE html><html><body>Not found</body></html>",
        "noise": bytes(range(256)) * 16,
        "nuls": bytes(10_000),
        "rich_text": b"{\\rtf1 words}",
        "old_binary": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
        "encrypted": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(600)
        + "EncryptedPackage".encode("utf-16-le")
        + bytes(600),
        "picture": b"\x89PNG\r\n\x1a\n" + bytes(500),
        "docx": hostile_files.word() if extension != "docx" else hostile_files.book("<row><c><v>1</v></c></row>"),
        "pdf": hostile_pdfs.page() if extension != "pdf" else hostile_files.deck(""),
    }
    outcomes = read({f"{what}.{extension}": data for what, data in contents.items()})
    assert not troubles(outcomes)
    told_by_content = {"web_page", "rich_text", "docx", "pdf", "text" if extension == "pdf" else ""}
    others = {name: outcome for name, outcome in outcomes.items() if Path(name).stem not in told_by_content}
    assert not [name for name, outcome in others.items() if outcome.text]
    assert not [name for name, outcome in others.items() if outcome.error not in (Damaged, PasswordProtected)]


def test_a_folder_is_refused(pool: ExtractionPool, tmp_path: Path) -> None:
    for extension in (".docx", ".pdf", ".pptx", ".txt", ".xlsx"):
        folder = tmp_path / f"folder{extension}"
        folder.mkdir()
        with pytest.raises(DiligenceError) as caught:
            pool.read(folder, extension)
        assert not list(unclear(caught.value.message, folder))


# What is in the parts


@some_and_others("footnote.docx", "string.xlsx")
def test_a_little_that_is_meant_very_often_is_bounded(read: Reader, only: Chosen) -> None:
    outcomes = read({
        "footnote.docx": hostile_markup.one_footnote_often(),
        "chart.docx": hostile_markup.one_chart_often(),
        "header.docx": hostile_markup.one_header_often(),
        "slide.pptx": hostile_markup.one_slide_often(),
        "string.xlsx": hostile_markup.one_string_often(),
        "sheet.xlsx": hostile_markup.one_sheet_often(),
        **hostile_notes.one_string_often(),
        **{name: hostile_notes.one_page_often()[name] for name in ("text.pdf", "nothing.pdf")},
    }, only)  # fmt: skip
    assert not troubles(outcomes)


@some_and_others("depths.docx")
def test_lists_and_remarks_of_any_number_are_bounded(read: Reader, only: Chosen) -> None:
    outcomes = read(hostile_lists.lists(), only)
    assert not troubles(outcomes)
    assert not unread(outcomes)


@some_and_others("one_cell.xlsx")
def test_what_is_long_within_the_limits_is_read_or_refused(read: Reader, only: Chosen) -> None:
    outcomes = read(hostile_markup.long_texts(), only)
    assert not troubles(outcomes)


def test_depths_end(read: Reader) -> None:
    outcomes = read(hostile_markup.markup_depths())
    assert not troubles(outcomes)
    assert not unread({name: outcome for name, outcome in outcomes.items() if not name.endswith(".xlsx")})


@pytest.mark.slow
def test_what_begins_and_never_ends_is_gone_through_once(read: Reader) -> None:
    outcomes = read(hostile_markup.unfinished())
    assert not troubles(outcomes)


def test_circles_end(read: Reader) -> None:
    outcomes = read({
        "styles.docx": hostile_markup.styles_in_a_circle(),
        "styles_in_a_chain.docx": hostile_markup.styles_in_a_chain(),
        **hostile_markup.parts_in_a_circle(),
    })  # fmt: skip
    assert not troubles(outcomes)
    assert set(unread(outcomes)) <= {"slides.pptx", "sheets.xlsx", "drawings.xlsx"}
    for style in "ABCD":
        assert f"in {style}\n" in outcomes["styles.docx"].text


def test_sheets_that_claim_more_than_they_hold_are_read_by_what_they_hold(read: Reader) -> None:
    outcomes = read({
        "two_cells.xlsx": hostile_markup.two_cells(),
        "lying_places.xlsx": hostile_markup.lying_places(),
        "wide_rows.xlsx": hostile_markup.wide_rows(),
        "merged_wholly.xlsx": hostile_markup.merged_wholly(),
        "absurd_numbers.xlsx": hostile_markup.absurd_numbers(),
        "as_many_sheets_as_can_be_named.xlsx": hostile_files.book("<row><c><v>1</v></c></row>", None, 65_535),
        "strings_that_are_not_there.xlsx": hostile_markup.lost_strings(),
    })  # fmt: skip
    assert not troubles(outcomes)
    assert "first" in outcomes["two_cells.xlsx"].text
    assert "last" in outcomes["two_cells.xlsx"].text
    assert len(outcomes["two_cells.xlsx"].text) < 1000
    assert outcomes["lying_places.xlsx"].text.count(MARKER) == 70
    assert outcomes["wide_rows.xlsx"].text.count("1\t") == 5000
    assert len(outcomes["wide_rows.xlsx"].text) < 1_000_000
    assert "7" in outcomes["merged_wholly.xlsx"].text
    assert outcomes["strings_that_are_not_there.xlsx"].text.count(MARKER) == 1
    assert all(outcome.error is None for outcome in outcomes.values())


def test_entities_are_neither_expanded_nor_fetched(read: Reader, canary: Path, listener: "Listener") -> None:
    for url in (listener.url, canary.as_uri()):
        for doctype, body in hostile_markup.doctypes(url).values():
            outcomes = read(hostile_markup.entities(body, doctype))
            assert not troubles(outcomes)
            for outcome in outcomes.values():
                assert canary.read_text() not in outcome.text
                assert len(outcome.text) < 100_000
    assert listener.connections == 0


# PDF


@pytest.mark.slow
def test_pdf_streams_that_inflate_without_end_stay_within_the_limits(read: Reader) -> None:
    outcomes = read(hostile_pdfs.stream_bombs())
    assert not troubles(outcomes)
    assert not [name for name, outcome in outcomes.items() if outcome.error is not None]
    assert not unread({name: outcomes[name] for name in ("appearance.pdf", "attachment.pdf", "picture.pdf")})


@some_and_others(
    "pages.pdf",
    "outline.pdf",
    "fields.pdf",
    "attachment.pdf",
    "form_in_itself.pdf",
    "notes.pdf",
    "parents.pdf",
    "contents.pdf",
)
def test_pdf_trees_in_circles_end(read: Reader, only: Chosen) -> None:
    outcomes = read(hostile_pdfs.circles(), only)
    # PDFium ends its process where memory ends: that is kept to the one document.
    assert set(troubles(outcomes)) <= {"forms_ten_to_the_tenth.pdf"}
    assert all(trouble.startswith("contained") for trouble in troubles(outcomes).values())
    assert set(unread(outcomes)) <= {
        "pages.pdf", "font_in_itself.pdf", "length.pdf", "encryption.pdf", "forms_ten_to_the_tenth.pdf",
    }  # fmt: skip


@pytest.mark.slow
def test_pdf_depths_end(read: Reader) -> None:
    outcomes = read(hostile_pdfs.depths())
    assert not troubles(outcomes)
    assert set(unread(outcomes)) <= {"pages.pdf"}


@pytest.mark.parametrize(
    "documents",
    quick_cases([hostile_notes.looks, hostile_notes.forms, hostile_notes.fonts, hostile_notes.tables], quick=(0, 1)),
)
@pytest.mark.slow
def test_what_stands_beside_and_behind_the_pages_of_a_pdf_is_bounded(
    read: Reader, documents: Callable[[], dict[str, bytes]]
) -> None:
    outcomes = read(documents())
    assert not troubles(outcomes)
    assert all(outcome.error is None for outcome in outcomes.values())
    assert set(unread(outcomes)) <= {"unicode_ranges.pdf", "widths.pdf", "codes.pdf"}  # which show other letters


@pytest.mark.parametrize("name", quick_cases(["drawing.pdf", "notes.pdf"], quick=(0,)))
@pytest.mark.slow
def test_a_pdf_that_takes_too_long_is_read_as_far_as_the_time_goes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(hostile_notes.one_page_often()[name])
    with ExtractionPool(1, Limits(6, watched.LIMIT_MB), watched.read) as pool:
        reading = pool.read(tmp_path / name, ".pdf")
    assert MARKER in reading.text
    assert "DILIGENCE_DOCUMENT_TIMEOUT" in reading.warnings[0]


@pytest.mark.slow  # each takes its six seconds
@pytest.mark.parametrize("name", ["tiles.pdf", "layers.pdf", "fax.pdf"])
@needs_tesseract
def test_pages_that_cannot_be_drawn_in_time_are_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(hostile_notes.pictures()[name])
    engines = Engines("eng", rapidocr=False, program=tesseract.program())
    with ExtractionPool(1, Limits(8, watched.LIMIT_MB), recognise_page) as pool:
        page = pool.submit(tmp_path / name, order_page(".pdf", "1", engines))
        assert recognised(page, engines).state is not ScanState.READ


def test_a_pdf_reaches_nothing_outside(read: Reader, canary: Path, listener: "Listener") -> None:
    outcomes = read({"a.pdf": hostile_pdfs.reaching_out(listener.url.encode(), str(canary).encode())})
    assert not troubles(outcomes)
    assert not unread(outcomes)
    assert canary.read_text() not in outcomes["a.pdf"].text
    assert listener.connections == 0


# Plain text


@some_and_others("one_line.txt", "noise.txt", "mark_alone.txt", "surrogates.txt", "unmarked_16.txt")
def test_texts_of_any_bytes_are_read(read: Reader, only: Chosen) -> None:
    outcomes = read({
        "nuls.txt": bytes(10_000_000),
        "one_line.txt": MARKER.encode() + b"A" * 20_000_000,
        "noise.txt": bytes(range(256)) * 40_000,
        "half_characters.txt": "\ud800".encode("utf-16-le", "surrogatepass") * 1_000_000,
        "escapes.txt": b"\x1b$B" * 2_000_000,
        "mark_alone.txt": b"\xff\xfe",
        "line_ends.txt": b"\r\n\r" * 5_000_000,
        "surrogates.txt": f"{MARKER}\n".encode() + b"\xed\xa0\x80" * 1_000_000,
        "too_far.txt": b"\xff\xfe\0\0" + b"\xff" * 16_000_000,
        "utf_7.txt": b"+AFoAYQBuAHoAaQBiAGEAcg- and +" * 100_000,
        "high_and_late.txt": b"a" * 60_000_000 + b"\xe9\xff",
        "any_high.txt": bytes(range(128, 256)) * 40_000,
        "unmarked_16.txt": (f"{MARKER} " * 1_000_000).encode("utf-16-be"),
        "unmarked_32.txt": (f"{MARKER} " * 1_000_000).encode("utf-32-le"),
        "wide.txt": "\U0001f600".encode() + b"A" * 40_000_000,
    }, only)  # fmt: skip
    assert not troubles(outcomes)
    assert all(outcome.error is None for name, outcome in outcomes.items() if name != "wide.txt")
    marked = ("one_line.txt", "surrogates.txt")
    assert not unread({name: outcome for name, outcome in outcomes.items() if name in marked})
    unmarked = [outcome.text for name, outcome in outcomes.items() if name.startswith("unmarked_")]
    assert {text.count(MARKER) for text in unmarked} == {1_000_000}


@some_and_others("mismatched.html")
def test_markup_and_values_of_any_shape_are_bounded(read: Reader, only: Chosen) -> None:
    outcomes = read(hostile_texts.documents(), only)
    assert not troubles(outcomes)
    assert not unread(outcomes)


# What is outside


class Listener:
    """A web server that says nothing; `connections` counts who asked."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/entity"
        self.connections = 0
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def close(self) -> None:
        """Stop listening."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that no document may bring into its text."""
    path = tmp_path / "canary"
    path.write_text("the canary sings")
    return path


def test_the_listener_hears_who_asks(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", int(listener.url.split(":")[2].split("/")[0]))) as connection:
        assert connection.recv(1) == b""
    assert listener.connections == 1
