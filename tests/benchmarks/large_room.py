"""A data room of very many passages: the memory, disk and time that its ranking takes.

`python -m tests.benchmarks.large_room [PASSAGES]` writes a room of 1,000,000 passages of some 1,000 characters (drawn
words, 500 passages a text) into a home of its own, has them cut, and ranks them in another process. Memory is what the
system cannot take back (RssAnon); beside it stands that with the pages of the index's file.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from threading import Thread
from typing import Final

from tests.homes import make_home

PASSAGES: Final = 1_000_000
_OF_A_TEXT: Final = 500
_WORDS: Final = 120  # of a passage
_LINE: Final = 12
QUESTIONS: Final = (
    "Which law governs the agreement?",
    "What are the total assets at the end of the year?",
    "May the supplier assign the contract without consent?",
    "How many employees work in research?",
    "Is there a limit of liability for indirect damages?",
)


def main() -> None:
    """Write the room, rank it in another process, and print what that took."""
    passages = int(sys.argv[1]) if len(sys.argv) > 1 else PASSAGES
    with tempfile.TemporaryDirectory(prefix="large-room-") as folder:
        os.environ["DILIGENCE_HOME"] = str(make_home(Path(folder) / "home"))
        company = _write(passages // _OF_A_TEXT)
        for what in ("passages", "rank"):
            subprocess.run([sys.executable, "-m", "tests.benchmarks.large_room", what, str(company)], check=True)


def _write(count: int) -> int:
    """A run with a company whose room holds so many texts; gives the company's id."""
    from storage.database import writing
    from storage.documents import DocumentStatus, RunDocument
    from storage.runs import Run, RunCompany, add_run
    from storage.texts import Outcome, StoredText, save_texts

    run = Run(id="run-1", batch="Large", fingerprint="f", answerer="extractive", criteria={})
    with writing() as session:
        company = RunCompany(run_id="run-1", ordinal=0, name="Alpha", domain="alpha.example", folder="rooms/alpha")
        add_run(session, run, [company])
        session.flush()
        company_id = company.id or 0
    documents = []
    for number, text in enumerate(_texts(count)):
        stored = StoredText(
            content_hash=f"{number}", reader="test-1", outcome=Outcome.READ, text=text, characters=len(text)
        )
        with writing() as session:
            (summary,) = save_texts(session, [stored]).values()
        documents.append(
            RunDocument(
                company_id=company_id,
                document_id=f"{number}",
                name=f"{number}.txt",
                path="",
                url="x",
                status=DocumentStatus.READ,
                content_hash=f"{number}",
                text_id=summary.id,
                characters=len(text),
            )
        )
    with writing() as session:
        session.add_all(documents)
    return company_id


def _texts(count: int) -> Iterator[str]:
    vocabulary = Path(__file__).parents[2] / "tasks" / "ranking" / "vocabulary" / "contracts.toml"
    words = sorted(set(vocabulary.read_text("utf-8").split()))
    draw, weights = random.Random(1), list(accumulate(1 / (rank + 5) for rank in range(len(words))))
    for _ in range(count):
        drawn = draw.choices(words, cum_weights=weights, k=_OF_A_TEXT * _WORDS)
        lines = [" ".join(drawn[at : at + _LINE]) for at in range(0, len(drawn), _LINE)]
        yield "\n\n".join("\n".join(lines[at : at + 10]) for at in range(0, len(lines), 10))


class _Memory:
    """The highest memory of this process since the last look, in MB: its own, and with the pages of its files."""

    def __init__(self) -> None:
        self._own = self._all = 0.0
        Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._look()
            time.sleep(0.1)

    def _look(self) -> None:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        self._own = max(self._own, int(status["RssAnon"].split()[0]) / 1024)
        self._all = max(self._all, int(status["VmRSS"].split()[0]) / 1024)

    def peak(self) -> str:
        """What it was, and a new start."""
        self._look()
        told = f"{self._own:.0f} MB, {self._all:.0f} MB with pages of files"
        self._own = self._all = 0.0
        return told


def _measure(what: str, company: int) -> None:
    from tasks.scoring.evidence import Evidence

    memory = _Memory()
    start = time.process_time()
    evidence = Evidence(company)
    print(f"{what}: texts and passages loaded: {time.process_time() - start:.0f} s of processor time, {memory.peak()}")
    if what == "passages":  # cut and stored for the first time
        return
    start = time.process_time()
    found = evidence.find(QUESTIONS[0], 12)
    print(f"index built: {time.process_time() - start:.0f} s of processor time, {memory.peak()}")
    seconds = []
    for question in QUESTIONS * 3:
        start = time.process_time()
        evidence.find(question, 12)
        seconds.append(time.process_time() - start)
    seconds.sort()
    middle, slowest = 1000 * seconds[len(seconds) // 2], 1000 * seconds[-1]
    print(f"a question: {middle:.0f} ms at the median, {slowest:.0f} at most; {memory.peak()}")
    start = time.process_time()
    evidence.verify(" ".join(found[0].text.split()[:12]))
    print(json.dumps({"a quotation, s": round(time.process_time() - start, 2), "memory": memory.peak()}))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _measure(sys.argv[1], int(sys.argv[2]))
    else:
        main()
