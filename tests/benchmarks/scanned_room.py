"""A run over a room of scanned pages that is killed twice: whether it is finished, and whether a page is read twice.

    python -m tests.benchmarks.scanned_room --prints FOLDER [--pages 100] [--engine tesseract]

Pages of the PDFs in FOLDER that have their text as text are drawn, laid askew and made noisy, ten to a document. The
run is ended with SIGKILL after a third and after two thirds of its pages. What it says of its progress is printed, what
it cost, and what its report counts.
"""

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pypdfium2
from PIL import Image

from tests.benchmarks.batches import room_of, write_batch
from tests.benchmarks.scans import LEAST_WORDS, WORD, scanned

_OF_DOCUMENT = 10
_CRITERIA = (
    'id: revenue, figure: revenue, rule: "> 0"',
    "id: lease, document: lease agreement",
    'id: risks, ask: "Which risks are named?"',
)


def drawn_pages(folder: Path) -> Iterator[Image.Image]:
    """Pages with enough words, as poor scans."""
    for number, path in enumerate(sorted(folder.glob("*.pdf"))):
        try:
            with pypdfium2.PdfDocument(path) as document:
                for index, page in enumerate(islice(document, _OF_DOCUMENT)):
                    if len(WORD.findall(page.get_textpage().get_text_bounded())) >= LEAST_WORDS:
                        yield scanned(page, 7 * number + index).image()
        except pypdfium2.PdfiumError:
            continue


def write_room(folder: Path, prints: Path, pages: int) -> Path:
    """A batch of one company whose documents are scans; gives the batch's file."""
    room = room_of(folder, 0)
    drawn = drawn_pages(prints)
    for number in range(pages // _OF_DOCUMENT):
        first, *others = islice(drawn, _OF_DOCUMENT)
        first.save(room / f"scan {number}.pdf", save_all=True, append_images=others, resolution=200, quality=60)
    return write_batch(folder, "Scans", 1, _CRITERIA)


def read_pages(home: Path) -> dict[tuple[str, str, str], str]:
    """When each page was stored, by content, page and engine."""
    path = next(home.glob("*.db"), None)
    if path is None:
        return {}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60) as connection:
        try:
            rows = connection.execute("select content_hash, page, engine, created_at from recognised_pages").fetchall()
        except sqlite3.OperationalError:  # before the first migration
            return {}
    return {(content, page, engine): moment for content, page, engine, moment in rows}


def run(batch: Path, pages: int | None) -> tuple[str, float]:
    """Run the batch, to its end or until so many pages are stored; gives its words and its processor seconds."""
    home = batch.parent / "home"
    environment = os.environ | {"DILIGENCE_HOME": str(home), "PREFECT_HOME": f"{home}/prefect"}
    for name in ("PREFECT_API_URL", "DILIGENCE_AI_MODEL"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", str(batch.parent / "report")]
    before = os.times()
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(command, env=environment, stdout=said, stderr=said, start_new_session=True) as process:
            while process.poll() is None:
                time.sleep(0.5)
                if pages is not None and len(read_pages(home)) >= pages:
                    os.killpg(process.pid, signal.SIGKILL)
                    break
        said.seek(0)
        words = said.read().decode(errors="replace")
    if pages is None and process.returncode:
        raise RuntimeError(words)
    after = os.times()
    return words, after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Build the room, run it three times, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prints", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    os.environ["DILIGENCE_OCR_ENGINE"] = options.engine
    with tempfile.TemporaryDirectory() as folder:
        batch = write_room(Path(folder), options.prints, options.pages)
        before: dict[tuple[str, str, str], str] = {}
        for most in (options.pages // 3, 2 * options.pages // 3, None):
            words, seconds = run(batch, most)
            now = read_pages(batch.parent / "home")
            again = sum(now.get(page) != moment for page, moment in before.items())
            told = re.findall(r"scans: [\d,]+ of [\d,]+ pages", words)
            print(
                f"{len(now)} pages stored, {again} of the {len(before)} before read again; {seconds:.0f} s; {told[-1:]}"
            )
            before = now
        report = json.loads((batch.parent / "report" / "report.json").read_text())
        documents = [document for company in report["companies"] for document in company["documents"]]
        read = sum(document["pages_read"] or 0 for document in documents)
        print(
            f"{len(documents)} documents, {read} of {sum(document['pages'] or 0 for document in documents)} pages read"
        )
        print(*(line for line in words.splitlines() if line.strip()), sep="\n")


if __name__ == "__main__":
    main()
