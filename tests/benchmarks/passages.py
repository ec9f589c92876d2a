"""Claims over filings and questions on regulations and policies: `tasks.ranking` beside plain BM25 (bm25s).

The documents lie in the folder that DILIGENCE_BENCH_QUESTIONS names, as their repositories have them:

edgartools           dgunning/edgartools: 10-K filings under `tests/fixtures`
regulations-xml      cfpb/regulations-xml: US regulations on banking under `regulation`
site-policy          github/site-policy: the policies of a company under `Policies`

`passages.json` has claims and questions of ours, each with some words of the passage that answers it. The passages were
drawn by lot, and the questions written for them. `development` and `shut` share no document. A passage that repeats
nearly all words of the one that was drawn counts too. A claim is looked for in its filing; a question in all
regulations of its part, or in all policies. Filings and policies are cut as the product does, regulations by paragraph.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from tasks.language.words import tokens
from tasks.reading.embedded import read_with_embedded
from tasks.scoring.passages import cut
from tests.benchmarks.contracts import FOLDER
from tests.benchmarks.questions import PARTS, Question, compared

QUESTIONS: Final = Path(__file__).with_name("passages.json")
TARGETS: Final = {"claim": (5, "0.68"), "regulation": (10, "0.80"), "policy": (10, "0.80")}
PLURALS: Final = {"claim": "claims", "regulation": "regulations", "policy": "policies"}
ALIKE: Final = 0.6  # of the words of two passages together that both have
SHORTEST: Final = 40  # characters of a paragraph of a regulation

_XML: Final = "{eregs}"

Passages = list[tuple[str, str]]  # each with the document that it is from


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target) for the kinds whose documents are there."""
    content: dict[str, Any] = json.loads(QUESTIONS.read_text("utf-8"))
    folder = Path(os.environ.get(FOLDER, ""))
    files = {
        name: folder / path
        for name, (path, sha256) in content["documents"].items()
        if (folder / path).is_file() and hashlib.sha256((folder / path).read_bytes()).hexdigest() == sha256
    }
    for kind, (first, target) in TARGETS.items():
        for part in PARTS:
            rows = [row for row in content[part] if row[0] == kind]
            names = sorted({name for _kind, name, _words, _text in rows})
            if all(name in files for name in names):
                questions = list(_questions(kind, rows, files, names))
                yield from compared(f"{PLURALS[kind]}, {part}", questions, first, target)


def _questions(
    kind: str, rows: Sequence[list[str]], files: dict[str, Path], names: Sequence[str]
) -> Iterator[Question]:
    rooms = [[name] for name in names] if kind == "claim" else [names]
    for room in rooms:
        passages = [(name, text) for name in room for text in _passages(files[name])]
        texts = [text for _name, text in passages]
        for _kind, name, words, text in rows:
            if name in room:
                yield Question(text, texts, _answers(passages, name, words))


def _passages(file: Path) -> list[str]:
    if file.suffix == ".xml":
        return list(_paragraphs(file))
    reading = read_with_embedded(str(file))
    return [reading.text[span.start : span.end] for span in cut(reading.text, reading.places)]


def _paragraphs(file: Path) -> Iterator[str]:
    """The paragraphs of a regulation, its official interpretations among them, each behind its number and title."""
    for paragraph in ET.parse(file).iter():
        if paragraph.tag in {f"{_XML}paragraph", f"{_XML}interpParagraph"}:
            title, content = (paragraph.find(f"{_XML}{tag}") for tag in ("title", "content"))
            words = " ".join(_one_line(part) for part in (title, content) if part is not None)
            if len(words) > SHORTEST:
                yield f"{paragraph.get('label') or paragraph.get('target') or ''} {words}"


def _one_line(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _answers(passages: Passages, name: str, words: str) -> frozenset[int]:
    """The passage of a document that holds these words, and those that repeat nearly all of it."""
    place = next(
        place for place, (source, text) in enumerate(passages) if source == name and words in " ".join(text.split())
    )
    drawn = _words_of(passages[place][1])
    return frozenset(
        other
        for other, (_source, text) in enumerate(passages)
        if len(drawn & _words_of(text)) >= ALIKE * len(drawn | _words_of(text))
    )


@cache
def _words_of(text: str) -> frozenset[str]:
    return frozenset(tokens(text))
