"""The verdicts on statements: those of the benchmarks, sentences made false, and documents of rooms as memos.

A statement is named by its set, its source, what it is (`true`, or what is false in it) and a hash of its words, which
are printed where the verdict differs. Parts that are shut are left out, and so are statements on documents that are
not in `../shared/corpus`.
"""

import contextlib
import io
import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from deployments.rooms import check as check_memo
from tasks.errors import DiligenceError
from tasks.language.sentences import sentences
from tasks.reading import read_document
from tasks.statements.answers import Ground, prove
from tasks.statements.check import check
from tests.benchmarks.altered import altered, true_forms
from tests.benchmarks.analysts import OF_DOCUMENTS, STATEMENTS
from tests.golden.documents import NO_CORPUS, ROOT, SAMPLE, corpus_folder
from tests.golden.records import Measured, digest
from tests.golden.rooms import drive, in_processes

_MEMOS: Final = (".docx", ".html", ".md", ".pdf", ".txt")
_SENTENCES: Final = 10
"""So many sentences of a document are made false."""
_SHOWN: Final = 100


class Source(NamedTuple):
    """Where statements are from: the name of their set, and what to judge."""

    set: str
    name: str
    path: str = ""
    number: int = 0


class Judged(NamedTuple):
    """A statement, what it is, and what is said of it."""

    kind: str
    words: str
    verdict: str


def measure() -> Measured:
    """The verdict on each statement, and a hash of all verdicts of a set."""
    measured = Measured(("verdict",))
    corpus = corpus_folder()
    with drive() as (root, rooms):
        sources = [*_analysts(corpus), *_altered_documents(), *_memos(root, rooms)]
        verdicts: dict[str, list[str]] = {}
        for source, judged in in_processes(root, judge, sources):
            for kind, words, verdict in judged:
                name = f"{source.set}/{source.name}: {kind} {digest(words)[:8]}"
                measured.add(name, verdict)
                measured.notes[name] = " ".join(words.split())[:_SHOWN]
                verdicts.setdefault(source.set, []).append(verdict)
    for kind, said in verdicts.items():
        measured.add(f"{kind}: {len(said)} statements", digest("\n".join(said)))
    if corpus is None:
        measured.skipped["documents"] = NO_CORPUS
    return measured


def judge(source: Source) -> list[Judged]:
    """What is said of the statements of a source."""
    try:
        return list(_JUDGES[source.set](source))
    except DiligenceError as error:
        return [Judged("refused", source.name, type(error).__name__)]


def _analysts(corpus: Path | None) -> Iterator[Source]:
    for name, path in (("analysts", STATEMENTS), ("documents", OF_DOCUMENTS)):
        for number, source in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["source"]):
            document = source.get("document", "")
            if "shut" in source["part"] or not ("text" in source or (corpus and document.startswith("corpus "))):
                continue
            yield Source(name, document or source["company"], str(corpus or ""), number)


def _judge_analyst(source: Source) -> Iterator[Judged]:
    path = STATEMENTS if source.set == "analysts" else OF_DOCUMENTS
    content = tomllib.loads(path.read_text(encoding="utf-8"))["source"][source.number]
    text = content.get("text") or read_document(str(Path(source.path, source.name.removeprefix("corpus ")))).text
    statements = [("true", each) for each in content["true"]]
    statements += [(kind, each) for kind, _, each in (entry.partition(" | ") for entry in content["false"])]
    for kind, statement in statements:
        answer = prove(statement, "", content["company"], [Ground(1, None, text, text)])
        yield Judged(kind, statement, "stands" if answer.text else "falls")


def _altered_documents() -> Iterator[Source]:
    for folder in (SAMPLE, ROOT / "tests" / "documents"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".docx", ".pdf", ".pptx", ".odt"}:
                yield Source("altered", path.name, str(path))


def _judge_altered(source: Source) -> Iterator[Judged]:
    """Sentences of a document in other true forms and with one thing altered, each held against its paragraph."""
    chance = Random(source.name)
    paragraphs = read_document(source.path).text.split("\n\n")
    drawn = [
        (sentence, paragraph)
        for paragraph in paragraphs
        if "\t" not in paragraph
        for sentence in sentences(paragraph)
        if 8 <= len(sentence.split()) <= 45 and sentence[-1] == "."
    ]
    for sentence, paragraph in chance.sample(drawn, min(_SENTENCES, len(drawn))):
        for kind, statement in (*true_forms(sentence, chance), *altered(sentence, chance)):
            yield Judged(kind, statement, str(check(statement, [paragraph]).verdict))


def _memos(root: Path, rooms: list[str]) -> Iterator[Source]:
    """What can be a memo: the first document of every other room by hand, the first three of each of the sample's."""
    sample = [room for room in rooms if room.startswith("sample/")]
    for room in [*sample, *rooms[len(sample) :: 2]]:
        paths = [path for path in sorted((root / room).rglob("*")) if path.suffix in _MEMOS]
        for path in paths[: 3 if room in sample else 1]:
            yield Source("memos", f"{room} {path.name}", str(path))


def _judge_memo(source: Source) -> Iterator[Judged]:
    """A document held against the rest of its room by `diligence check`."""
    room = source.name.partition(" ")[0]
    with tempfile.TemporaryDirectory() as out:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.suppress(SystemExit),  # where something is contradicted
        ):
            check_memo(Path(source.path), room, Path(out))
        (answer,) = Path(out).glob("*.json")
        for row in json.loads(answer.read_text(encoding="utf-8"))["statements"]:
            places = [f"{place['document_name']}, {place['place']}" for place in row["places"]]
            yield Judged(row["kind"], row["text"], " ".join((row["verdict"], *places[:1])))


_JUDGES: Final[dict[str, Callable[[Source], Iterator[Judged]]]] = {
    "analysts": _judge_analyst,
    "documents": _judge_analyst,
    "altered": _judge_altered,
    "memos": _judge_memo,
}
