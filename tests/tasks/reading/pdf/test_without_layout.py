"""A PDF whose layout takes too much is read without it, before it is refused."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.errors import TookTooLong
from tasks.reading import limits
from tasks.reading.pdf import reader
from tasks.reading.pdf.reader import WITHOUT_LAYOUT
from tasks.reading.pool.pool import ExtractionPool, Limits
from tests.tasks.reading.pdf import pdfs
from tests.tasks.reading.pdf.test_layout import SUBSIDIARIES, draw_rows, page

COUNTY = b"BT /F1 9 Tf 72 700 Td (Population of the county: 12,345) Tj ET\n"


@pytest.fixture
def second_try() -> Iterator[None]:
    """A document that took too much before."""
    limits.begin(second_try=True)
    yield
    limits.begin()


def _map(signs: int, strokes: int) -> bytes:
    """A page with a word on which a drawing of so many strokes stands so many times."""
    drawing = pdfs.stream(b"0 0 m 1 1 l S\n" * strokes, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]", packed=True)
    places = b"".join(b"q 1 0 0 1 %d %d cm /X Do Q\n" % (at % 600, at * 7 % 700) for at in range(signs))
    objects = pdfs.one_page(b"", drawing)
    objects[2] = objects[2].replace(b"/Font", b"/XObject << /X 6 0 R >> /Font")
    objects[3] = pdfs.stream(COUNTY + places, packed=True)
    return pdfs.pdf(objects)


def test_a_map_that_takes_more_memory_than_there_is_gives_its_words(tmp_path: Path) -> None:
    path = tmp_path / "map.pdf"
    path.write_bytes(_map(signs=600, strokes=3000))
    with ExtractionPool(1, Limits(memory_mb=300)) as pool:
        reading = pool.read(path, ".pdf")
    assert reading.text == "Population of the county: 12,345\n"
    assert reading.warnings == [WITHOUT_LAYOUT]


@pytest.mark.usefixtures("second_try")
def test_a_second_try_has_words_without_rows() -> None:
    canvas = page()
    draw_rows(canvas, SUBSIDIARIES)
    data = bytes(canvas.getpdfdata())
    reading = reader.read(data)
    assert "\t" not in reading.text
    assert set(" ".join(cell for row in SUBSIDIARIES for cell in row).split()) <= set(reading.text.split())
    assert reading.warnings == [WITHOUT_LAYOUT]


def test_a_document_that_takes_too_long_the_second_time_too_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(_map(signs=1, strokes=1))
    with ExtractionPool(1, Limits(seconds=0.000_1)) as pool, pytest.raises(TookTooLong):
        pool.read(path, ".pdf")


def test_a_page_full_of_letters_keeps_them_all() -> None:
    """One with more than a table for people has, each drawn by itself."""
    chance = random.Random(1)
    letters = [(chance.randrange(600), chance.randrange(780), chance.randrange(65, 91)) for _ in range(20_000)]
    drawn = b"".join(b"1 0 0 1 %d %d Tm (%c) Tj\n" % letter for letter in letters)
    objects = pdfs.one_page(b"")
    objects[3] = pdfs.stream(b"BT /F1 1 Tf\n" + drawn + b"ET", packed=True)
    text = reader.read(pdfs.pdf(objects)).text
    assert sum(map(str.isalpha, text)) > 0.99 * len(letters)
