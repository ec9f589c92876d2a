"""Rows of tables in real PDFs that come back exactly, cells split by tabs: invoices, quarterly reports, data sheets.

`real_tables.txt` holds the rows, written by hand from pictures of the pages. The PDFs are those of public repositories;
DILIGENCE_BENCH_REPOSITORIES names a folder with a git directory or a clone of each, `owner+name/`. They fall into two
halves by their names; nothing was tuned on the shut one.

    python -m tests.benchmarks.real_tables     lists what is missing of the development half
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tasks.reading import places
from tasks.reading.pdf import reader

_ROWS: Final = Path(__file__).with_suffix(".txt")
REPOSITORIES: Final = {
    "Azure-Samples/cognitive-services-REST-api-samples": "4a3c5ca76318feb3f7cfb109e1f79c542eb14d01",
    "LeoAlonzoTN/PI-2023-BNP-OpenAI-Prospectus": "6471c98aa074cf4d50734120b7dafdc2719296b5",
    "Matthieu5555/prospectus_reading": "acfd432608030ee4af2ece67f880ade8fff286e7",
    "Meta-Team/Datasheets": "10be088ec22b27686bdee01c1b3cf64342d3da56",
    "ZUGFeRD/corpus": "47b61beb29b7de98c3c91cdb3657415c0ede783b",
    "aws-samples/amazon-bedrock-workshop": "8b378f27d4dd13e45a1deca183a13a9dabeb9b50",
    "camelot-dev/camelot": "2b80d0bc692d1b22203c3385e77da8201675aa50",
    "dgunning/edgartools": "ca5a70094da7fc34890161dae9c256bb1f4c3d26",
    "docugami/KG-RAG-datasets": "547f132d3c2bcc2b9976ca1d8413b99d8ba45aa1",
    "invoice-x/invoice2data": "bd2fcceb867882047173dbd66a9500f47634a0cd",
    "opendatalab/MinerU": "79d6d8d79fb8f3ddba5cc34c07a16f0ec36f56c7",
    "parsee-ai/parsee-datasets": "1c56cf62bf6b11a1cb8b32eec5f8a1de98d3554f",
    "pathwaycom/llm-app": "b8879ccc0214c4976175e7f3d7641a7ee3f204fb",
    "trustbit/enterprise-rag-challenge": "a4abdb9478c7c1021a916006d56605cc94bd4dde",
}
"""The commits whose PDFs were read."""


class _Page(NamedTuple):
    """A page of a PDF, and rows of its tables."""

    half: str
    repository: str
    path: str
    page: int
    rows: list[str]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for half in ("development", "shut"):
        read = [(page, found_rows(page.rows, lines)) for page, lines in _read(half)]
        wanted = sum(len(page.rows) for page, _ in read)
        found = sum(count for _, count in read)
        figure = f"{found / wanted:.3f} ({found} of {wanted} rows of {len(read)} pages)" if wanted else "–"
        yield f"rows of tables in real PDFs, {half}", figure, ".90"


def found_rows(rows: Sequence[str], lines: Sequence[str]) -> int:
    """How many rows are among the lines; a space beside a currency or percent sign does not count."""
    left = Counter(map(_plain, lines))
    return sum((Counter(map(_plain, rows)) & left).values())


def _plain(row: str) -> str:
    cells = (" ".join(cell.split()) for cell in row.split("\t"))
    return "\t".join(re.sub(r"\s*([$€£%])\s*", r"\1", cell) for cell in cells)


def _read(half: str) -> Iterator[tuple[_Page, list[str]]]:
    """The pages of a half with the lines that they read as; none where the repositories are not there."""
    given = os.environ.get("DILIGENCE_BENCH_REPOSITORIES")
    with tempfile.TemporaryDirectory() as folder:
        for page in _pages():
            document = _document(Path(given), page, Path(folder)) if given and page.half == half else None
            if document is not None:
                yield page, _lines(document, page.page)


def _pages() -> list[_Page]:
    pages: list[_Page] = []
    for line in _ROWS.read_text("utf-8").splitlines():
        if line.startswith("@ "):
            half, repository, path, number = (part.strip() for part in line[2:].split(" | "))
            pages.append(_Page(half, repository, path, int(number), []))
        elif line and not line.startswith("# "):
            pages[-1].rows.append(line.replace("|", "\t"))
    return pages


def _document(repositories: Path, page: _Page, folder: Path) -> Path | None:
    """The PDF of a page, taken out of its repository; None where that is not there."""
    repository = repositories / page.repository.replace("/", "+")
    repository = repository / "repo" if (repository / "repo").is_dir() else repository
    document = folder / f"{hashlib.md5(f'{page.repository}/{page.path}'.encode()).hexdigest()}.pdf"
    if not document.exists() and repository.is_dir():
        blob = f"{REPOSITORIES[page.repository]}:{page.path}"
        shown = subprocess.run(["git", "-C", str(repository), "show", blob], capture_output=True, check=True)
        document.write_bytes(shown.stdout)
    return document if document.exists() else None


@cache
def _lines(document: Path, number: int) -> list[str]:
    reading = reader.read(document)
    place = next(place for place in reading.places if place.kind == places.PAGE and place.label == str(number))
    return reading.text[place.start : place.end].splitlines()


def main() -> None:
    """List the rows of the development half that do not come back, and the lines that come nearest."""
    half = sys.argv[1] if len(sys.argv) > 1 else "development"
    for page, lines in _read(half):
        missing = [row for row in page.rows if not found_rows([row], lines)]
        print(f"{len(page.rows) - len(missing)} of {len(page.rows)} {page.path} {page.page}")
        for row in missing:
            print(f"    {row.replace(chr(9), ' | ')}")


if __name__ == "__main__":
    main()
