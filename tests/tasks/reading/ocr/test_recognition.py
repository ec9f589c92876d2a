"""Pages that are pictures are read by Tesseract, each within bounds; nothing that it does harms the document."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tasks.reading.embedded import read_with_embedded
from tasks.reading.ocr import recognise, tesseract
from tests.tasks.reading.ocr.scans import CLAUSE, needs_tesseract, page, picture, program, scan


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    yield
    recognise.configure(None)


@pytest.fixture
def reader() -> recognise.Recogniser:
    """What recognises English here."""
    recognise.configure("eng")
    found = recognise.active()
    assert found is not None
    return found


def words(text: str) -> list[str]:
    return re.findall(r"[\w.]+", text)


# --- what is read


@needs_tesseract
def test_a_scan_gives_its_words_line_by_line(tmp_path: Path, reader: recognise.Recogniser) -> None:
    signed = "Signed in Aarhus for the bank."
    read = reader.page_text(page(scan(tmp_path / "a.pdf", [picture(f"{CLAUSE}\n\n{signed}")])))
    assert [line for line in read.split("\n") if line] == [*CLAUSE.splitlines(), signed]
    assert read.endswith(f"\n\n{signed}"), "paragraphs stand apart"
    assert reader.languages == "eng"


@needs_tesseract
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_that_lies_on_its_side_or_upside_down_is_read(
    tmp_path: Path, reader: recognise.Recogniser, turned: int
) -> None:
    read = reader.page_text(page(scan(tmp_path / "a.pdf", [picture(CLAUSE, turned=turned)])))
    assert words(read) == words(CLAUSE)


@needs_tesseract
def test_the_bullets_of_a_list_are_bullets(tmp_path: Path, reader: recognise.Recogniser) -> None:
    items = ["we tested the controls of the group;", "we read the minutes of the board;", "we asked the bank."]
    listed = "\n".join(f"•|{item}" for item in items)
    read = reader.page_text(page(scan(tmp_path / "a.pdf", [picture(f"{CLAUSE}\n\n{listed}")])))
    assert [line for line in read.split("\n") if line] == [*CLAUSE.splitlines(), *(f"• {item}" for item in items)]


@needs_tesseract
@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_rows_of_a_table_are_lines_with_tabs(tmp_path: Path, reader: recognise.Recogniser, turned: int) -> None:
    rows = [["Revenue", "9400", "7100"], ["Cost of sales", "3210", "2850"], ["Gross profit", "6190", "4250"]]
    table = "\n".join("|".join(row) for row in rows)
    read = reader.page_text(page(scan(tmp_path / "a.pdf", [picture(CLAUSE + "\n\n" + table, turned=turned)])))
    lines = [line for line in read.split("\n") if line]
    assert lines == [*CLAUSE.splitlines(), *("\t".join(row) for row in rows)]


@needs_tesseract
@pytest.mark.parametrize("size", [None, (59.5, 84.2), (5950.0, 8420.0)])
def test_the_claimed_size_of_a_page_is_not_believed(
    tmp_path: Path, reader: recognise.Recogniser, size: tuple[float, float] | None
) -> None:
    read = reader.page_text(page(scan(tmp_path / "a.pdf", [picture(CLAUSE)], size)))
    assert words(read) == words(CLAUSE)


@needs_tesseract
def test_a_picture_without_words_gives_no_text(tmp_path: Path, reader: recognise.Recogniser) -> None:
    noise = Image.effect_noise((800, 1100), 90)
    blank = Image.new("L", (800, 1100), 255)
    for name, image in (("noise", noise), ("blank", blank)):
        assert reader.page_text(page(scan(tmp_path / f"{name}.pdf", [image]))) == ""


# --- Tesseract that is missing, fails, hangs


def test_nothing_is_active_unless_it_is_wanted_and_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert recognise.active() is None
    recognise.configure(None)
    assert recognise.active() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    recognise.configure("eng")
    assert recognise.active() is None
    assert tesseract.installed() is None
    assert tesseract.languages_of("eng+deu") == ((), ("eng", "deu"))
    assert tesseract.PACKAGE in recognise.ADVICE


@pytest.mark.parametrize(
    "commands", [("cat >/dev/null", "exit 1"), ("exit 0",), ("kill -SEGV $$",), ("cat >/dev/null", "exit 127")]
)
def test_a_tesseract_that_fails_costs_its_page_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, commands: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", *commands)), prepend=":")
    recognise.configure("eng")
    reader = recognise.active()
    assert reader is not None
    one = page(scan(tmp_path / "a.pdf", [picture(CLAUSE)]))
    if commands == ("exit 0",):  # it said nothing: a page without words
        assert reader.page_text(one) == ""
    else:
        with pytest.raises(recognise.NotRecognised):
            reader.page_text(one)


def test_time_is_shared_by_the_pages_of_a_document(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "exec sleep 60")), prepend=":")
    recognise.configure("eng", 6.0)  # drawing the page takes some of it, on a busy machine a second
    one = page(scan(tmp_path / "a.pdf", [picture(CLAUSE)]))
    started = time.monotonic()
    reader = recognise.active()
    assert reader is not None
    with pytest.raises(recognise.NotRecognised):  # half of the time is for one page
        reader.page_text(one)
    for _ in range(2):
        with pytest.raises(recognise.OutOfTime):
            reader.page_text(one)
    assert time.monotonic() - started < 30
    assert recognise.active() is reader
    recognise.begin()
    fresh = recognise.active()
    assert fresh is not None
    with pytest.raises(recognise.NotRecognised):
        fresh.page_text(one)


HEAD = "level\\tpage\\tblock\\tpar\\tline\\tword\\tl\\tt\\tw\\th\\tconf\\ttext\\n"
ONE_PAGE_ONLY = (
    'cat >/dev/null; if [ -e "$(dirname "$0")/asked" ]; then exec sleep 60; fi; touch "$(dirname "$0")/asked"',
    f"printf '{HEAD}5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t96.5\\tLoan\\n'",
)


def test_when_time_is_up_what_was_recognised_stays_and_the_rest_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", *ONE_PAGE_ONLY)), prepend=":")
    recognise.configure("eng", 8.0)
    found = read_with_embedded(scan(tmp_path / "a.pdf", [picture(CLAUSE)] * 5))
    assert found.text.split() == ["Loan"]
    assert [place[2:] for place in found.places[1:] if place.start == 0] == [("page", "1"), ("ocr", "eng")]
    assert found.recognised is False
    told = " ".join(found.warnings)
    assert "page 2" in told, "half of the time was spent on it"
    assert "pages 3–5" in told
    assert "DILIGENCE_DOCUMENT_TIMEOUT" in told
