"""The documents whose texts are compared: those of the corpus, the sample and the tests, and those that tests build.

What is built is the same on each machine: no clock, no font and no program of the machine has a part in it.
"""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from tasks.reading.formats import list_supported
from tests.benchmarks import room_writing, statements
from tests.benchmarks.encodings import LINES
from tests.benchmarks.finance_rooms import PARTS
from tests.fuzz import rich, rich_texts

ROOT: Final = Path(__file__).parents[2]
SAMPLE: Final = ROOT / "deployments" / "sample" / "rooms"
CORPUS: Final = Path("shared", "corpus")
NO_CORPUS: Final = "there is no ../shared/corpus beside the repository"
_OF_TESTS: Final = ("tests/documents", "tests/fuzz/corpus", "tests/fuzz/findings", "tests/tasks/reading")
_FILED: Final = frozenset({".md", ".py", ".txt"})
"""Beside the documents of tests stand notes, programs and expected texts of these kinds."""
_STATEMENTS: Final = 40

Named = tuple[str, Path]
"""A document by the name that it is recorded under."""


def corpus_folder() -> Path | None:
    """`../shared/corpus` beside the repository, or beside the clone that this working tree belongs to."""
    beside = [ROOT.parent / CORPUS]
    git = ROOT / ".git"
    if git.is_file():  # of a working tree beside its clone: "gitdir: …/clone/.git/worktrees/name"
        beside.append(Path(git.read_text(encoding="utf-8").removeprefix("gitdir: ").strip()).parents[3] / CORPUS)
    return next((folder for folder in beside if folder.is_dir()), None)


def documents(folder: Path, corpus: Path | None) -> Iterator[Named]:
    """All documents; those that are built are written into `folder`."""
    if corpus is not None:
        yield from _below(corpus, "corpus", frozenset())
    yield from _below(SAMPLE, "sample", frozenset())
    for place in _OF_TESTS:
        yield from _below(ROOT / place, place, _FILED)
    for name, data in _built():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        yield f"built/{name}", path
    rooms = folder / "rooms"
    write_rooms(rooms)
    yield from _below(rooms, "rooms", frozenset())


def _below(folder: Path, name: str, without: frozenset[str]) -> Iterator[Named]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in list_supported() and path.suffix not in without and path != folder / "manifest.csv":
            yield f"{name}/{path.relative_to(folder).as_posix()}", path


def _built() -> Iterator[tuple[str, bytes]]:
    """Documents that tests and benchmarks make."""
    for kind, built in (("rich", rich.documents()), ("rich-texts", rich_texts.documents())):
        for extension, contents in sorted(built.items()):
            for number, data in enumerate(contents):
                yield f"{kind}/{number}{extension}", data
    for seed in range(_STATEMENTS):
        yield f"statements/{seed}.pdf", statements.draw(seed).pdf
    content = tomllib.loads(LINES.read_text(encoding="utf-8"))
    for language, lines in content["development"].items():
        for code_page in content["code_pages"][language]:
            data = "\n".join(lines).encode(code_page, "ignore")
            yield f"encodings/{language}-{code_page}.txt", data


def write_rooms(folder: Path) -> list[str]:
    """Write the rooms by hand on which the ledger was developed; gives their paths in `folder`."""
    names = []
    reset = room_writing.PRINTER.set(print_page)
    try:
        for part, rooms in PARTS.items():
            for room in rooms if part.endswith("development") else ():
                name = f"{part.replace(' ', '-')}/{room.__name__}"
                (folder / name).mkdir(parents=True)
                room(folder / name)
                names.append(name)
    finally:
        room_writing.PRINTER.reset(reset)
    return names


def print_page(file: Path, *blocks: str | Sequence[Sequence[str]]) -> None:
    """A printed page as `room_writing.printed` makes it, without LibreOffice: headings, paragraphs, ruled tables."""
    styles = getSampleStyleSheet()
    story: list[Flowable] = []
    for block in blocks:
        if isinstance(block, str):
            style = styles["Heading1" if block.startswith("# ") else "BodyText"]
            story.append(Paragraph(escape(block.removeprefix("# ")), style))
            continue
        width = max(map(len, block))
        rows = [[*row, *[""] * (width - len(row))] for row in block]
        story += [Table(rows, style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])), Spacer(1, 12)]
    SimpleDocTemplate(str(file), invariant=1).build(story)
