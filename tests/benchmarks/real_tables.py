"""Rows of tables in real PDFs that come back exactly, cells split by tabs: invoices, quarterly reports, data sheets.

`real_tables.txt` holds the rows, written by hand from pictures of the pages. The PDFs are those of public repositories;
DILIGENCE_BENCH_REPOSITORIES names a folder with a git directory or a clone of each, `owner+name/`. They fall into two
halves by their names; nothing was tuned on the shut one. The tables of the competition of ICDAR 2013 (regulations,
statistics and reports of European and American public bodies), which tabula-java holds, come with their cells, written
by others. Of those and of pages marked `filled` a row counts if its cells that are not empty come in order. Of pages
marked `pairs`, forms, it counts if one line has its label and behind it its values, each in a cell of its own.

    python -m tests.benchmarks.real_tables     lists what is missing of the development half
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from lxml import etree

from tasks.reading import text_writer
from tasks.reading.pdf import reader

_TEXT: Final[dict[str, Any]] = {"capture_output": True, "text": True}
_ROWS: Final = Path(__file__).with_suffix(".txt")
REPOSITORIES: Final = {
    "AartiPasi/Accounting_Portfolio": "fa3c60d5a0ce991c0d73753fba30bb58da8c3584",
    "akashlilhare/doc": "986a97666bd00e63214c4d454d6a72eec667c9e1",
    "alainbaudinaud-creator/comptapilot-v3": "7bb7cd555282d91323b3dda4f1b26b69469f45ae",
    "alifayyaz0613/cs4603-pa4": "c455294289e29e5277a7b23d273906693a860ede",
    "austonepropertyltd-eng/ai-financial-auditor": "128bed32672a27196c2e6b4e7fcf989004a63736",
    "aws-samples/amazon-bedrock-workshop": "8b378f27d4dd13e45a1deca183a13a9dabeb9b50",
    "Azure-Samples/cognitive-services-REST-api-samples": "4a3c5ca76318feb3f7cfb109e1f79c542eb14d01",
    "Bubi1996-del/ANALISEDEDOC-HACKATHON": "f2e74a26b3ca071d4339af22cbb9b210dfacf9e6",
    "camelot-dev/camelot": "2b80d0bc692d1b22203c3385e77da8201675aa50",
    "cybermaggedon/ct600": "b7dd2f8c998ba5cb32f60b6e3ebc5daf35f26d5f",
    "cybermaggedon/ct600-fill": "d96848d460dcd945e47c7296cd5a0a77d9e672cb",
    "dgunning/edgartools": "ca5a70094da7fc34890161dae9c256bb1f4c3d26",
    "DocAllfix/bilanciotool": "565ed61371da5064d9e9ee93020901f0bb75ad5e",
    "docugami/KG-RAG-datasets": "547f132d3c2bcc2b9976ca1d8413b99d8ba45aa1",
    "edgarwas/SPK": "091d283e47b69b1f689ec0501350ab3796885bb5",
    "etorres/annual-reports-rag": "36489b58ead09dab1359467fae2882c77a76af84",
    "ht788/bridge-financial-spreading": "fa339a714bd2d0acc2a85998c7dce2ea199b6327",
    "invoice-x/invoice2data": "bd2fcceb867882047173dbd66a9500f47634a0cd",
    "j-jayes/Swedish-annual-reports-archive": "f442a21c33346a79dfbe1cbf95da191640f1da4f",
    "jsvine/pdfplumber": "147f2c4c07dc1191fc1d05bb589b4f6af3aaf74a",
    "Klotzkette/bautraegervertragspruefer-skill": "be62dad4ebe4c0b9e9cad989c7b404a16a5bc97d",
    "LeoAlonzoTN/PI-2023-BNP-OpenAI-Prospectus": "6471c98aa074cf4d50734120b7dafdc2719296b5",
    "MainulEvan/Apparel-Industry-Project-US-Project-": "df7ed07854fed9d55f7fc5bfee34c966d9b69a0a",
    "mariakonstantinova666-lab/Liasse-Fiscale-marocaine-": "295c06bcd0163ced20c0eeef24d8c808f7214f9d",
    "Matthieu5555/prospectus_reading": "acfd432608030ee4af2ece67f880ade8fff286e7",
    "mehdialkadi/findata": "a19cf94438f574e232e9c5365c6e2805cc610035",
    "Meta-Team/Datasheets": "10be088ec22b27686bdee01c1b3cf64342d3da56",
    "Nick97382000/Lettura_bilanci": "deea85b1909749bb26110a6797f33f2b76b6c52e",
    "Nicolas-Edmond/liasseAnalyzer": "e35a004e35217d4b7eb829095c422e918a4a93bf",
    "opendatalab/MinerU": "79d6d8d79fb8f3ddba5cc34c07a16f0ec36f56c7",
    "parsee-ai/parsee-datasets": "1c56cf62bf6b11a1cb8b32eec5f8a1de98d3554f",
    "pathwaycom/llm-app": "b8879ccc0214c4976175e7f3d7641a7ee3f204fb",
    "qualieffort/abax-xbrl-cnbv": "963480698036b9b91ac170fcdf27080a87e92a1b",
    "raquigomes/Management": "77be8e9b7b0f2c4c1a6fe723e34a859c4924a141",
    "rxue/accounting": "14d4dea4126874992f784c81f686e167e4f3c0b4",
    "Sushanth-majeti/RAG-project-with-embeddings-and-vector-database": "bd83a4366fc6407fa90d5cf1a70daffd8743a042",
    "tabulapdf/tabula-java": "2cdf3b4fd3f7e921dca8cc6814cdd9316be40f0f",
    "trustbit/enterprise-rag-challenge": "a4abdb9478c7c1021a916006d56605cc94bd4dde",
    "ucetnizaverka-hash/Live-reporting": "d073fa8d10e799a72c117519585eacc7a3050307",
    "ucsbmunguia/Financials": "44dddad855b01ff61c22a04e74d078f48e165693",
    "Unstructured-IO/unstructured": "3e5482bfcdc843b5218ad98d2845b4b71ab013b7",
    "UntwistedApple/thesis": "68746ddaf8788e4e492458ddad545de31cf8eb30",
    "Vamshik07/Intelli-Credit-AI": "9253956515a444ed6bb2f8c1dc8468a4f7415e3f",
    "wickedest/irs-form-filler": "253f2ef9154e202c7da0b0579c709cc0c3014179",
    "ZUGFeRD/corpus": "47b61beb29b7de98c3c91cdb3657415c0ede783b",
}
"""The commits whose PDFs were read."""


class _Page(NamedTuple):
    """A page of a PDF, and rows of its tables."""

    half: str
    repository: str
    path: str
    page: int
    rows: list[str]
    filled: bool = False
    """Whether cells that are empty do not count."""
    pairs: bool = False
    """Whether its rows are labels and values of a form."""


_COMPETITION: Final = "src/test/resources/technology/tabula/icdar2013-dataset"
_OPENED: Final = frozenset({"eu-002", "eu-012", "eu-018", "eu-019", "eu-022", "us-007", "us-024", "us-033", "us-040"})
"""Documents of the competition that readers were mended on before."""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for what in (
        "development",
        "shut",
        "competition development",
        "competition shut",
        "forms",
        "forms opened",
        "fresh",
        "fresh shut",
    ):
        read = [(page, _found(page, lines)) for page, lines in _read(what)]
        wanted = sum(len(page.rows) for page, _ in read)
        found = sum(count for _, count in read)
        mean = sum(count / len(page.rows) for page, count in read) / max(1, len(read))
        figure = (
            f"{found / wanted:.3f} ({found} of {wanted} rows); mean of {len(read)} pages {mean:.3f}" if wanted else "–"
        )
        yield f"rows of tables in real PDFs, {what}", figure, ".90; .85"


def _found(page: _Page, lines: Sequence[str]) -> int:
    """How many rows of a page are among its lines."""
    if page.pairs:
        return sum(any(has_pair(row, line) for line in lines) for row in page.rows)
    if not page.filled:
        return found_rows(page.rows, lines)
    return sum((Counter(map(filled_cells, page.rows)) & Counter(map(filled_cells, lines))).values())


def has_pair(row: str, line: str) -> bool:
    """Whether a line has a label, of which letters and digits count, and then its values in cells of their own."""
    label, *values = row.split("\t")
    cells = line.split("\t")
    for at in range(len(cells) + 1):
        if _letters(label) in _letters("".join(cells[:at])):
            behind = iter(filled_cells("\t".join(cells[at:])))
            return all(value in behind for value in filled_cells("\t".join(values)))
    return False


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def filled_cells(row: str) -> tuple[str, ...]:
    """A row's cells that are not empty: without white space and hyphens, which others write otherwise."""
    cells = (re.sub(r"[\s\x02\ufffe\xad‐‑–—−•-]", "", unicodedata.normalize("NFKC", cell)) for cell in row.split("\t"))
    return tuple(cell.casefold().replace("’", "'") for cell in cells if cell)


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
        for page in [*_pages(), *(_competition(Path(given)) if given else ())]:
            document = _document(Path(given), page, Path(folder)) if given and page.half == half else None
            if document is not None:
                yield page, _lines(document, page.page)


def _pages() -> list[_Page]:
    pages: list[_Page] = []
    for line in _ROWS.read_text("utf-8").splitlines():
        if line.startswith("@ "):
            half, repository, path, number, *marks = (part.strip() for part in line[2:].split(" | "))
            pages.append(_Page(half, repository, path, int(number), [], "filled" in marks, "pairs" in marks))
        elif line and not line.startswith("# "):
            pages[-1].rows.append(line.replace("|", "\t"))
    return pages


def _competition(repositories: Path) -> Iterator[_Page]:
    """The pages of the competition's documents, with the rows of several cells that its files name."""
    name = "tabulapdf/tabula-java"
    repository = repositories / name.replace("/", "+")
    repository = repository / "repo" if (repository / "repo").is_dir() else repository
    if not repository.is_dir():
        return
    git = ["git", "-C", str(repository)]
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", REPOSITORIES[name], _COMPETITION], check=True, **_TEXT
    ).stdout
    paths = set(listed.splitlines())
    for path in sorted(path for path in paths if path.endswith("-str.xml")):
        document = path.removesuffix("-str.xml") + ".pdf"
        if document not in paths:
            continue
        described = subprocess.run([*git, "show", f"{REPOSITORIES[name]}:{path}"], check=True, **_TEXT).stdout
        stem = PurePosixPath(path).name.removesuffix("-str.xml")
        is_shut = stem not in _OPENED and int(hashlib.md5(f"48/{stem}.pdf".encode()).hexdigest(), 16) % 2
        rows: dict[int, list[str]] = {}
        for region in etree.fromstring(described.encode()).iter("region"):
            cells: dict[int, list[tuple[int, str]]] = {}
            for cell in region.iter("cell"):
                text = " ".join((cell.findtext("content") or "").split())
                cells.setdefault(int(cell.get("start-row", "0")), []).append((int(cell.get("start-col", "0")), text))
            whole = ["\t".join(text for _, text in sorted(held)) for _, held in sorted(cells.items())]
            rows.setdefault(int(region.get("page", "1")), []).extend(row for row in whole if len(filled_cells(row)) > 1)
        half = "competition shut" if is_shut else "competition development"
        for number, held in rows.items():
            if held:
                yield _Page(half, name, document, number, held, filled=True)


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
    place = next(place for place in reading.places if place.kind == text_writer.PAGE and place.label == str(number))
    return reading.text[place.start : place.end].splitlines()


def main() -> None:
    """List the rows of the development half that do not come back, and the lines that come nearest."""
    half = sys.argv[1] if len(sys.argv) > 1 else "development"
    for page, lines in _read(half):
        missing = [row for row in page.rows if not _found(page._replace(rows=[row]), lines)]
        print(f"{len(page.rows) - len(missing)} of {len(page.rows)} {page.path} {page.page}")
        for row in missing:
            print(f"    {row.replace(chr(9), ' | ')}")


if __name__ == "__main__":
    main()
