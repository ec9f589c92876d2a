"""`diligence check` on memos about public filings and contracts: `memos.toml`, half of whose statements are false.

Each memo is written in its format and held against a room with its document alone, without a model. Grave are false
statements that are called supported and true ones that are called contradicted; what is not found costs a look.
DILIGENCE_BENCH_REPOSITORIES names a folder with a git directory or a clone of each repository, `owner+name/`.
`python -m tests.benchmarks.memos PART` lists what is judged wrongly in a part.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from docx import Document
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from deployments.rooms import check
from tests.homes import make_home

MEMOS: Final = Path(__file__).with_name("memos.toml")
REPOSITORIES: Final = "DILIGENCE_BENCH_REPOSITORIES"
COMMITS: Final = {
    "patronus-ai/financebench": "cc39aeb4afdf33909ee1412188bf89035950c2eb",
    "JSv4/OpenContracts": "3e76267b75d09eba20a5f0dc34e95a2aca50f7a7",
    "Bonterms/Cloud-Terms": "df13f512c3bd923cc09cc2dae918812f876ea6e9",
    "CommonPaper/CSA": "4afc1f9d9ebad949a67a9585ed527e19f482492b",
}
PARTS: Final = ("development", "shut", "fresh")


class Statement(NamedTuple):
    """A statement of a memo: whether it is true, its words, and the verdict on it."""

    true: bool
    words: str
    verdict: str = ""


Block = str | list[list[str]]
"""A heading or a paragraph, or the rows of a table."""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the repositories are there."""
    for part in PARTS if os.environ.get(REPOSITORIES) else ():
        counts = Counter((each.true, each.verdict) for each in judged(part))
        true, false = (sum(count for (kind, _), count in counts.items() if kind is of) for of in (True, False))
        yield f"memos, {part}: true ones supported", f"{counts[True, 'supported']} of {true}", "–"
        yield f"memos, {part}: true ones contradicted", f"{counts[True, 'contradicted']} of {true}", "0"
        yield f"memos, {part}: false ones contradicted", f"{counts[False, 'contradicted']} of {false}", "–"
        yield f"memos, {part}: false ones supported", f"{counts[False, 'supported']} of {false}", "0"


def judged(part: str) -> Iterator[Statement]:
    """The statements of the memos of a part with what is said of them: the gravest verdict on their words."""
    for memo in tomllib.loads(MEMOS.read_text("utf-8"))["memo"]:
        if memo["part"] != part:
            continue
        claims = _checked(memo)
        for line in memo["lines"]:
            kind, _, words = line.partition(" ")
            if kind in {"T", "F"}:
                plain = _plain(words)
                found = [said for text, said in claims if text and (text in plain or plain in text)]
                yield Statement(kind == "T", words, _verdict(found, true=kind == "T"))


def _verdict(found: list[str], *, true: bool) -> str:
    """One contradicted claim contradicts a statement; words around a true quotation need not be found."""
    if "contradicted" in found:
        return "contradicted"
    supported = found.count("supported")
    return "supported" if supported and (true or supported == len(found)) else "not found"


def _checked(memo: Mapping[str, str]) -> list[tuple[str, str]]:
    """The claims of a memo, without blanks and marks, with the verdicts on them."""
    repository, _, path = memo["document"].partition(" ")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        room = folder / "rooms" / memo["name"]
        room.mkdir(parents=True)
        (room / Path(path).name).write_bytes(_document(repository, path))
        written = folder / f"memo.{memo['format']}"
        write(memo, written)
        os.environ.update(DILIGENCE_HOME=str(make_home(folder / "home")), DILIGENCE_DRIVE_ROOT=str(folder / "rooms"))
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            check(written, memo["name"], folder / "out")
        answer = json.loads((folder / "out" / "memo.json").read_text("utf-8"))
    return [(_plain(row["text"]), row["verdict"]) for row in answer["statements"]]


def _plain(words: str) -> str:
    return re.sub(r"[\W_]+", "", words).casefold()


def _document(repository: str, path: str) -> bytes:
    folder = Path(os.environ[REPOSITORIES]) / repository.replace("/", "+")
    folder = folder / "repo" if (folder / "repo").is_dir() else folder
    blob = f"{COMMITS[repository]}:{path}"
    return subprocess.run(["git", "-C", str(folder), "show", blob], capture_output=True, check=True).stdout


def write(memo: Mapping[str, str], path: Path) -> None:
    """Write a memo in its format."""
    blocks = list(_blocks(memo))
    if path.suffix == ".docx":
        _write_docx(memo["title"], blocks, path)
    elif path.suffix == ".pdf":
        _write_pdf(memo["title"], blocks, path)
    elif path.suffix == ".html":
        parts = (_html_table(block) if isinstance(block, list) else f"<p>{escape(block[2:])}</p>" for block in blocks)
        path.write_text(f"<!doctype html><h1>{escape(memo['title'])}</h1>{''.join(parts)}", "utf-8")
    else:
        mark = "# " if path.suffix == ".md" else ""
        texts = [f"{mark}{memo['title']}"]
        for block in blocks:
            heading = mark and isinstance(block, str) and block.startswith("H")
            texts.append(_bars(block) if isinstance(block, list) else f"{'## ' if heading else ''}{block[2:]}")
        path.write_text("\n\n".join(texts) + "\n", "utf-8")


def _blocks(memo: Mapping[str, str]) -> Iterator[Block]:
    table: list[list[str]] = []
    for line in memo["lines"]:
        if line[2:].startswith("| "):
            table.append([cell.strip() for cell in line[4:].split(" | ")])
            continue
        if table:
            yield table
            table = []
        yield line
    if table:
        yield table


def _bars(rows: list[list[str]]) -> str:
    head, *others = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"|{'---|' * len(rows[0])}", *others])


def _html_table(rows: list[list[str]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _write_docx(title: str, blocks: list[Block], path: Path) -> None:
    document = Document()
    document.add_heading(title, 0)
    for block in blocks:
        if isinstance(block, list):
            table = document.add_table(len(block), len(block[0]))
            for row, cells in zip(table.rows, block, strict=True):
                for cell, words in zip(row.cells, cells, strict=True):
                    cell.text = words
        elif block.startswith("H"):
            document.add_heading(block[2:], 1)
        else:
            document.add_paragraph(block[2:])
    document.save(str(path))


def _write_pdf(title: str, blocks: list[Block], path: Path) -> None:
    styles = getSampleStyleSheet()
    story = [Paragraph(escape(title), styles["Title"])]
    for block in blocks:
        if isinstance(block, list):
            story.append(Table(block))
        else:
            style = styles["Heading2" if block.startswith("H") else "BodyText"]
            story.append(Paragraph(escape(block[2:]), style))
    SimpleDocTemplate(str(path)).build(story)


def main() -> None:
    """Print what is judged wrongly, and the counts."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in judged(sys.argv[1] if len(sys.argv) > 1 else "development"):
        counts["true" if each.true else "false", each.verdict] += 1
        if each.verdict != ("supported" if each.true else "contradicted"):
            print(f"{'true' if each.true else 'false'}, {each.verdict}: {each.words}")
    print(", ".join(f"{kind} {verdict} {count}" for (kind, verdict), count in sorted(counts.items())))


if __name__ == "__main__":
    main()
