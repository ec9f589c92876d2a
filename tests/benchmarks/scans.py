"""How much of scanned pages each engine reads: words and numbers, by processor time and by how sure the engine is.

    python -m tests.benchmarks.scans FOLDER [--shut]      a folder of PDFs that have their text as text

Pages with text are drawn and made into scans: grey, askew, noisy, and one in three as a fax (two colours). What the
page has as text is what should be read. Every other document is shut: engines were chosen, and limits set, without it.
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pypdfium2
from PIL import Image, ImageFilter

from tasks.reading.ocr import tesseract
from tasks.reading.ocr.page import RecognisedPage
from tasks.reading.ocr.recognise import Engines, recognise
from tasks.reading.picture import Picture

PAGES, _OF_DOCUMENT = 40, 4
LEAST_WORDS = 80
WORD, NUMBER = re.compile(r"[^\W\d_]{2,}"), re.compile(r"\d[\d.,]*\d|\d")
ENGINES = {
    "Tesseract": Engines("eng", rapidocr=False, program=tesseract.program()),
    "RapidOCR": Engines(None, rapidocr=True),
    "auto": Engines("eng", rapidocr=True, is_auto=True, program=tesseract.program()),
}
LEVELS = (0.0, 0.7, 0.8, 0.85, 0.9, 0.95, 1.01)


def scanned(page: pypdfium2.PdfPage, number: int) -> Picture:
    """A page as a poor scan of 200 dots an inch."""
    chance = random.Random(number)
    image = page.render(scale=200 / 72, grayscale=True).to_pil().convert("L")
    image = image.rotate(chance.uniform(-1.2, 1.2), Image.Resampling.BICUBIC, fillcolor=245)
    image = image.filter(ImageFilter.GaussianBlur(chance.uniform(0.3, 1.1)))
    image = Image.blend(image, Image.effect_noise(image.size, 60), chance.uniform(0.05, 0.25))
    if number % 3 == 0:  # a fax of 100 by 200 dots
        image = image.point(lambda value: 255 if value > 150 else 0)
        image = image.resize((image.width, image.height // 2)).resize(image.size)
    return Picture(image.width, image.height, image.tobytes())


def pages(folder: Path, *, shut: bool) -> Iterator[tuple[str, Picture, str]]:
    """Up to four pages with enough words and numbers of each document, as scans, and their texts."""
    found = 0
    for number, path in enumerate(sorted(folder.glob("*.pdf"))):
        if number % 2 != shut or found == PAGES // 2:
            continue
        try:
            document = pypdfium2.PdfDocument(path)
            of_document = 0
            for index, page in enumerate(document):
                text = page.get_textpage().get_text_bounded()
                letters = text.replace("\u2019", "'")
                if len(WORD.findall(text)) >= LEAST_WORDS and letters.isascii() and len(NUMBER.findall(text)) > 9:
                    yield f"{path.name}, page {index + 1}", scanned(page, 7 * number + index), text
                    found, of_document = found + 1, of_document + 1
                    if of_document == _OF_DOCUMENT or found == PAGES // 2:
                        break
        except pypdfium2.PdfiumError:
            continue


def recall(pattern: re.Pattern[str], text: str, read: str) -> tuple[int, int]:
    """How many of the words of a text were read, and how many it has."""
    wanted, got = Counter(pattern.findall(text)), Counter(pattern.findall(read))
    return (wanted & got).total(), wanted.total()


def main() -> None:
    """Print a line an engine, then the numbers that are right by the confidence of their page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shut", action="store_true")
    parser.add_argument("--engine", choices=ENGINES)
    options = parser.parse_args()
    rows: dict[str, list[tuple[float, float, float, float, float]]] = {name: [] for name in ENGINES}
    for _, picture, text in pages(options.folder, shut=options.shut):
        for name, engines in ENGINES.items():
            if options.engine not in {None, name}:
                continue
            began = time.process_time_ns() + _children()
            page: RecognisedPage = recognise(picture, engines)
            seconds = (time.process_time_ns() + _children() - began) / 1e9
            read = page.text()
            words, numbers = recall(WORD, text, read), recall(NUMBER, text, read)
            right = recall(NUMBER, read, text)
            rows[name].append(
                (words[0] / words[1], numbers[0] / numbers[1], right[0] / max(1, right[1]), page.confidence, seconds)
            )
            print(json.dumps([name, *(round(value, 3) for value in rows[name][-1])]), flush=True)
    for name, measured in rows.items():
        if not measured:
            continue
        words, numbers, right, _, seconds = (mean(column) for column in zip(*measured, strict=True))
        print(
            f"{name}: {len(measured)} pages, words {words:.3f}, numbers {numbers:.3f}, {right:.3f} of those right, "
            f"{seconds:.1f} s"
        )
        for low, high in pairwise(LEVELS):
            held = [row[2] for row in measured if low <= row[3] < high]
            if held:
                print(f"  confidence {low:.2f} to {high:.2f}: {len(held)} pages, {mean(held):.3f} of the numbers right")


def _children() -> int:
    import os

    used = os.times()
    return int((used.children_user + used.children_system) * 1e9)


if __name__ == "__main__":
    main()
