"""Pages that are pictures are read by the engines that are there; nothing that these do harms a document."""

import re
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from PIL import Image

from tasks.errors import Unavailable
from tasks.reading.image import Picture
from tasks.reading.ocr import rapidocr, tesseract
from tasks.reading.ocr.page import RecognisedPage, RecognisedWord, RecognitionFailed, ScanState
from tasks.reading.ocr.recognise import Engines, draw_pdf_page, recognise
from tests.matrices import quick_cases
from tests.tasks.reading.ocr.scans import CLAUSE, needs_tesseract, picture, program, scan

RAPIDOCR = Engines(None, rapidocr=True)
TABLE = [["Revenue", "9,400", "7,100"], ["Cost of sales", "3,210", "2,850"], ["Gross profit", "6,190", "4,250"]]
HEAD = "level\\tpage\\tblock\\tpar\\tline\\tword\\tl\\tt\\tw\\th\\tconf\\ttext\\n"


def by_tesseract(program: str | None = None) -> Engines:
    return Engines("eng", rapidocr=False, program=program or tesseract.program())


BOTH = [pytest.param("tesseract", marks=needs_tesseract), "rapidocr"]
QUICK = [BOTH[0], pytest.param("rapidocr", marks=pytest.mark.slow)]


def auto(program: str | None) -> Engines:
    return Engines("eng", rapidocr=True, is_auto=True, program=program)


def tesseract_that(folder: Path, *commands: str) -> str:
    """A program in place of Tesseract that does that."""
    return str(program(folder / "bin", *commands) / "tesseract")


def reads_loan(confidence: int, height: int) -> str:
    """A command that tells of one word of that height, read with that confidence."""
    return f"printf '{HEAD}5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t1700\\t{height}\\t{confidence}\\tLoan\\n'"


def read_by(engines: Engines, image: Image.Image | None = None) -> RecognisedPage:
    image = image or picture(CLAUSE)
    return recognise(Picture(image.width, image.height, image.tobytes()), engines)


def read(image: Image.Image, engine: str) -> RecognisedPage:
    return read_by(RAPIDOCR if engine == "rapidocr" else by_tesseract(), image)


def words(text: str) -> list[str]:
    return re.findall(r"[\w.]+", text)


@pytest.mark.parametrize("engine", BOTH)
def test_a_scan_gives_its_words_line_by_line(engine: str) -> None:
    page = read(picture(CLAUSE), engine)
    assert page.text().split("\n") == CLAUSE.splitlines()
    assert page.engine.startswith(engine)
    assert page.confidence > 0.9


@pytest.mark.parametrize("engine", QUICK)
@pytest.mark.parametrize(
    "turned", [90, pytest.param(180, marks=pytest.mark.slow), pytest.param(270, marks=pytest.mark.slow)]
)
def test_a_page_that_lies_on_its_side_or_upside_down_is_read(engine: str, turned: int) -> None:
    page = read(picture(CLAUSE, turned=turned), engine)
    assert words(page.text()) == words(CLAUSE)
    upright = read(picture(CLAUSE), engine).boxes()
    (one,), (other,) = ([box for box in boxes if box.text == "interest"] for boxes in (page.boxes(), upright))
    across, down = (other.left + other.right) / 2, (other.top + other.bottom) / 2
    expected = {90: (down, 1 - across), 180: (1 - across, 1 - down), 270: (1 - down, across)}[turned]
    assert ((one.left + one.right) / 2, (one.top + one.bottom) / 2) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("engine", QUICK)
@pytest.mark.parametrize("askew", [0, 1.5])
def test_rows_of_a_table_are_lines_with_tabs_however_askew(engine: str, askew: float) -> None:
    image = picture("\n".join("|".join(row) for row in TABLE)).rotate(askew, Image.Resampling.BICUBIC, fillcolor=255)
    lines = [line.strip("\ufdd0\ufdd1") for line in read(image, engine).text().split("\n")]
    assert [line.split("\t") for line in lines if line] == TABLE


@needs_tesseract
@pytest.mark.parametrize(
    "size", quick_cases([None, ((59.5, 84.2),), ((5950.0, 8420.0),), ((8504.0, 14173.0),)], quick=(0, 1))
)
def test_the_claimed_size_of_a_page_is_not_believed(tmp_path: Path, size: tuple[float, float] | None) -> None:
    drawn = draw_pdf_page(scan(tmp_path / "a.pdf", [picture(CLAUSE)], size), 0)
    assert drawn is not None
    assert words(recognise(drawn, by_tesseract()).text()) == words(CLAUSE)


@needs_tesseract
def test_white_words_on_black_are_read() -> None:
    assert "the whole of the loan" in read(picture(CLAUSE).point(lambda shade: 255 - shade), "tesseract").text()


@needs_tesseract
@pytest.mark.parametrize("image", [Image.effect_noise((800, 1100), 90), Image.new("L", (800, 1100), 235)])
def test_a_picture_without_words_is_empty(image: Image.Image) -> None:
    page = read(image, "tesseract")
    assert (page.state, page.text()) == (ScanState.EMPTY, "")


@pytest.mark.parametrize(
    "commands",
    quick_cases(
        [(("cat >/dev/null", "exit 1"),), (("kill -SEGV $$",),), (("cat >/dev/null", "exit 127"),)], quick=(1,)
    ),
)
def test_a_tesseract_that_fails_leaves_the_page_to_rapidocr(tmp_path: Path, commands: tuple[str, ...]) -> None:
    broken = tesseract_that(tmp_path, *commands)
    assert read_by(by_tesseract(broken)).state is ScanState.FAILED
    both = read_by(auto(broken))
    assert (both.engine, both.text()) == ("rapidocr", CLAUSE.strip())


@pytest.mark.parametrize(
    ("confidence", "height", "engine", "text"),
    [(96, 9999, "tesseract-2 eng", "Loan"), (70, 9999, "rapidocr", CLAUSE.strip()), (96, 40, "rapidocr", None)],
)
def test_auto_reads_again_what_tesseract_is_not_sure_of_or_overlooks(
    tmp_path: Path, confidence: int, height: int, engine: str, text: str | None
) -> None:
    page = read_by(auto(tesseract_that(tmp_path, "cat >/dev/null", reads_loan(confidence, height))))
    assert (page.state, page.engine, page.text()) == (ScanState.READ, engine, text or f"Loan\n{CLAUSE.strip()}")


@pytest.mark.parametrize(("confidence", "height"), [(96, 9999), (70, 9999), (96, 40)])
@pytest.mark.parametrize("error", [Unavailable("no OpenCV"), RecognitionFailed()])
def test_what_tesseract_read_is_kept_as_a_part_where_rapidocr_cannot_be_asked(
    tmp_path: Path, confidence: int, height: int, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise error

    if isinstance(error, Unavailable):
        monkeypatch.setattr(rapidocr, "load_cv2", fails)
    monkeypatch.setattr(rapidocr.RapidOcr, "words", fails)
    page = read_by(auto(tesseract_that(tmp_path, "cat >/dev/null", reads_loan(confidence, height))))
    is_whole = isinstance(error, RecognitionFailed) and (confidence, height) == (96, 9999)
    assert (page.state, page.text()) == (ScanState.READ if is_whole else ScanState.PARTLY, "Loan")


def test_a_picture_without_words_is_not_turned_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    page = read_by(by_tesseract(tesseract_that(tmp_path, "cat >/dev/null", f"echo . >>{log}")))
    assert (page.state, log.read_text()) == (ScanState.EMPTY, ".\n.\n")


@pytest.mark.parametrize(("confidence", "state"), [(45, ScanState.READ), (30, ScanState.FAILED)])
def test_a_page_counts_that_fails_when_it_is_turned_if_it_makes_sense(
    tmp_path: Path, confidence: int, state: ScanState
) -> None:
    commands = ("cat >/dev/null", f"mkdir {tmp_path}/once || exit 1", reads_loan(confidence, 99))
    assert read_by(by_tesseract(tesseract_that(tmp_path, *commands))).state is state


def test_what_an_earlier_tesseract_read_is_read_again() -> None:
    words = [RecognisedWord("Loan", 10, 20, 90, 40, 0.99, 3)]
    auto = Engines("eng", rapidocr=True, is_auto=True)
    assert auto.accept(RecognisedPage(ScanState.READ, "tesseract-2 eng+deu", 200, 100, 0, words))
    assert not auto.accept(RecognisedPage(ScanState.READ, "tesseract eng", 200, 100, 0, words))


@needs_tesseract
def test_numbers_that_stand_alone_are_read() -> None:
    numbers = [str(number) for number in range(21, 41)]
    image = picture("\n".join(f"{number}|The deponent said that it was so." for number in numbers))
    page = read_by(auto(tesseract.program()), image)
    assert re.findall(r"\d+", page.text()) == numbers


def test_a_page_is_kept_as_it_was_recognised() -> None:
    words = [RecognisedWord("Loan", 10, 20, 90, 40, 0.91, 3), RecognisedWord("9,400", 110, 20, 190, 40, 0.5, 3)]
    page = RecognisedPage(ScanState.READ, "tesseract eng", 200, 100, 1, words)
    assert RecognisedPage.unpack(page.pack()) == page
    assert page.boxes()[0] == ("Loan", 0.6, 0.05, 0.8, 0.45)


def test_an_engine_whose_library_does_not_load_speaks_of_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rapidocr, "_load", rapidocr._load.__wrapped__)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(Unavailable, match="RapidOCR cannot be loaded"):
        read_by(RAPIDOCR)
