"""How much of scanned pages each engine reads: words, numbers and rows of numbers, and its processor time.

    git clone --depth 1 https://github.com/scribeocr/ocr-benchmark A        # 30 scans: tables, filings, columns, forms
    git clone --depth 1 https://github.com/zzzDavid/ICDAR-2019-SROIE B      # 626 receipts
    git clone --depth 1 https://github.com/josefrancisco81788/Tool---Financial-Statement-Transcription D
    python -m tests.benchmarks.scans --labelled A --receipts B --prints C --statements D [--shut] [--engine NAME]

`A` and `B` were labelled by others, by word and by line; the statements in `D` by eye, before an engine had read them
(`scanned_statements.txt`). `C` is a folder of PDFs that have their text as text: pages of
them are made into scans (grey, askew, noisy, and one in three as a fax), and what a page has as text is what should be
read. Half of each part, by its names, is shut: engines were chosen, and limits set, without it. `--row` prints a line a
page.
"""

import argparse
import csv
import html
import os
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pypdfium2
from PIL import Image, ImageFilter

from tasks.reading import image
from tasks.reading.image import Picture
from tasks.reading.ocr import tesseract
from tasks.reading.ocr.page import RecognisedPage
from tasks.reading.ocr.recognise import Engines, draw_pdf_page, recognise
from tasks.reading.pdf.pages import mend_text, read_page

RECEIPTS, PRINTS, _OF_DOCUMENT = 14, 10, 2
LEAST_WORDS = 80
WORD, NUMBER = re.compile(r"[^\W\d_]{2,}"), re.compile(r"\d[\d.,]*\d|\d")
ROW = 3
"""Numbers in a row that counts as one of a table."""
ENGINES = {
    "Tesseract": Engines("eng", rapidocr=False, program=tesseract.program()),
    "RapidOCR": Engines(None, rapidocr=True),
    "auto": Engines("eng", rapidocr=True, is_auto=True, program=tesseract.program()),
}
STATEMENTS = Path(__file__).with_name("scanned_statements.txt")
LEVELS = (0.0, 0.7, 0.8, 0.85, 0.9, 0.95, 1.01)


class LabelledPage(NamedTuple):
    """A scan, and the lines of text that are on it."""

    part: str
    name: str
    picture: Picture
    lines: Sequence[str]


def is_shut(name: str) -> bool:
    """Whether a page belongs to the half that nobody looks at."""
    return crc32(name.encode()) % 2 == 1


def labelled_pages(folder: Path) -> Iterator[LabelledPage]:
    """The scans of a folder whose words are labelled in hOCR (github.com/kba/hocr-spec)."""
    for path in sorted((folder / "ground_truth").glob("*.hocr")):
        name = path.name.partition(".")[0]
        (scan,) = (folder / "img").glob(f"{name}.*")
        lines = re.split(r"""class=["']ocr_line""", path.read_text())[1:]
        words = [re.findall(r"""class=["']ocrx_word["'][^>]*>(.*?)</span>""", line, re.DOTALL) for line in lines]
        texts = [" ".join(html.unescape(re.sub("<[^>]*>", "", word)) for word in line) for line in words]
        if picture := image.draw_page(scan, 0):
            yield LabelledPage("scans", name, picture, texts)


def receipts(folder: Path) -> Iterator[LabelledPage]:
    """Scanned receipts, whose lines are labelled in capitals."""
    paths = sorted((folder / "data" / "box").glob("*.csv"))
    for path in paths[:: max(1, len(paths) // RECEIPTS)]:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            texts = [",".join(row[8:]) for row in csv.reader(file, quoting=csv.QUOTE_NONE)]
        if picture := image.draw_page(folder / "data" / "img" / f"{path.stem}.jpg", 0):
            yield LabelledPage("receipts", path.stem, picture, texts)


def statements(folder: Path) -> Iterator[LabelledPage]:
    """Pages of scanned accounts; the labels name each file by its content."""
    paths = {_blob(path)[:8]: path for path in folder.glob("tests/**/*.pdf")}
    for page in STATEMENTS.read_text().split("\n== ")[1:]:
        head, *lines = page.strip().split("\n")
        blob, _, number = head.split()
        if picture := draw_pdf_page(paths[blob], int(number) - 1):
            yield LabelledPage("statements", head, picture, lines)


def _blob(path: Path) -> str:
    """The name that Git gives a file's content."""
    content = path.read_bytes()
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def made_scans(folder: Path, *, shut: bool) -> Iterator[LabelledPage]:
    """Up to two pages with enough words and numbers of each document, as scans."""
    found = 0
    for number, path in enumerate(sorted(folder.glob("*.pdf"))):
        if is_shut(path.name) != shut or found == PRINTS // 2:
            continue
        try:
            document = pypdfium2.PdfDocument(path)
            of_document = 0
            for index, page in enumerate(document):
                text = mend_text(read_page(page.raw).text)
                is_latin = text.replace("\u2019", "'").isascii()
                if len(WORD.findall(text)) >= LEAST_WORDS and is_latin and len(NUMBER.findall(text)) > 9:
                    yield LabelledPage(
                        "prints made into scans",
                        f"{path.name}, page {index + 1}",
                        scanned(page, 7 * number + index),
                        text.split("\n"),
                    )
                    found, of_document = found + 1, of_document + 1
                    if of_document == _OF_DOCUMENT or found == PRINTS // 2:
                        break
        except pypdfium2.PdfiumError:
            continue


def scanned(page: pypdfium2.PdfPage, number: int) -> Picture:
    """A page as a poor scan of 200 dots an inch."""
    chance = random.Random(number)
    drawn = page.render(scale=200 / 72, grayscale=True).to_pil().convert("L")
    drawn = drawn.rotate(chance.uniform(-1.2, 1.2), Image.Resampling.BICUBIC, fillcolor=245)
    drawn = drawn.filter(ImageFilter.GaussianBlur(chance.uniform(0.3, 1.1)))
    drawn = Image.blend(drawn, Image.effect_noise(drawn.size, 60), chance.uniform(0.05, 0.25))
    if number % 3 == 0:  # a fax of 100 by 200 dots
        drawn = drawn.point(lambda value: 255 if value > 150 else 0)
        drawn = drawn.resize((drawn.width, drawn.height // 2)).resize(drawn.size)
    return Picture(drawn.width, drawn.height, drawn.tobytes())


class Measured(NamedTuple):
    """So many of so many words, numbers and rows were read, and so many of the numbers that were read are right."""

    words: tuple[int, int]
    numbers: tuple[int, int]
    right: tuple[int, int]
    rows: tuple[int, int]
    confidence: float
    seconds: float


def measure(lines: Sequence[str], page: RecognisedPage, seconds: float) -> Measured:
    """Compare a recognised page with its labels."""
    text, read = "\n".join(lines).casefold(), page.text().casefold()
    return Measured(
        _found(WORD, text, read),
        _found(NUMBER, text, read),
        _found(NUMBER, read, text),
        _rows(lines, read.split("\n")),
        page.confidence,
        seconds,
    )


def _found(pattern: re.Pattern[str], text: str, read: str) -> tuple[int, int]:
    wanted, got = Counter(pattern.findall(text)), Counter(pattern.findall(read))
    return (wanted & got).total(), wanted.total()


def _rows(lines: Iterable[str], read: Iterable[str]) -> tuple[int, int]:
    """How many of the lines with several numbers have them all, in order, in one line that was read."""
    wanted = [numbers for line in lines if len(numbers := NUMBER.findall(line)) >= ROW]
    got = [" ".join(NUMBER.findall(line)) for line in read]
    return sum(any(f" {' '.join(row)} " in f" {line} " for line in got) for row in wanted), len(wanted)


def _print(name: str, pages: Sequence[Measured]) -> None:
    parts = (
        f"{sum(a for a, _ in column) / max(1, sum(b for _, b in column)):.3f}"
        for column in list(zip(*pages, strict=True))[:4]
    )
    words, numbers, right, rows = parts
    of_rows = sum(page.rows[1] for page in pages)
    seconds = sum(page.seconds for page in pages) / len(pages)
    print(
        f"{name}: {len(pages)} pages, words {words}, numbers {numbers}, {right} of those right, "
        f"rows {rows} of {of_rows}, {seconds:.1f} s a page"
    )


def main() -> None:
    """Print a line for each part and engine, then the numbers that are right by the confidence of their page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=Path)
    parser.add_argument("--receipts", type=Path)
    parser.add_argument("--prints", type=Path)
    parser.add_argument("--statements", type=Path)
    parser.add_argument("--shut", action="store_true")
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--row", action="store_true")
    options = parser.parse_args()
    pages: list[Iterator[LabelledPage]] = []
    if options.labelled:
        pages.append(page for page in labelled_pages(options.labelled) if is_shut(page.name) == options.shut)
    if options.statements:
        pages.append(page for page in statements(options.statements) if is_shut(page.name) == options.shut)
    if options.receipts:
        pages.append(page for page in receipts(options.receipts) if is_shut(page.name) == options.shut)
    if options.prints:
        pages.append(made_scans(options.prints, shut=options.shut))
    measured: defaultdict[tuple[str, str], list[Measured]] = defaultdict(list)
    for page in (page for part in pages for page in part):
        for name, engines in ENGINES.items():
            if options.engine not in {None, name}:
                continue
            began = _processor_time()
            recognised = recognise(page.picture, engines)
            result = measure(page.lines, recognised, _processor_time() - began)
            measured[page.part, name].append(result)
            if options.row:
                print(page.part, page.name, name, *result, flush=True)
    by_name: defaultdict[str, list[Measured]] = defaultdict(list)
    for (part, name), results in measured.items():
        _print(f"{name}, {part}", results)
        by_name[name] += results
    for name, results in by_name.items():
        _print(f"{name}, all", results)
        for low, high in pairwise(LEVELS):
            held = [page.right for page in results if low <= page.confidence < high]
            if held:
                right, all_ = (sum(column) for column in zip(*held, strict=True))
                share = right / max(1, all_)
                print(f"  confidence {low:.2f} to {high:.2f}: {len(held)} pages, {share:.3f} of the numbers right")


def _processor_time() -> float:
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


if __name__ == "__main__":
    main()
