"""Documents that analysts ask for in strangers' rooms, as `diligence run` finds them without a model.

DILIGENCE_BENCH_FILINGS names a folder with clones of the repositories in `asked_documents.txt`, anywhere below it. An
answer is right where its state is one of the label's and the document that it names has one of the label's parts in its
name. Something else found is wrong, something missed open. `python -m tests.benchmarks.asked_documents [PART …]` lists
both, of the parts that are named or of all.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.document_kinds import read_rows
from tests.benchmarks.single_figures import FILINGS

_FILE: Final = "asked_documents.txt"
_NAMED: Final = re.compile(r"In the data room: (?:only )?(.*?)(?: \((?:of the kind|matched)|, of the kind)")


def main() -> None:
    """Print what is wrong or open, and the counts of each part."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [(part, [row[0], row[1], *row[2].split("|")]) for part, row in read_rows(_FILE, 3)]
        asked = [(part, row) for part, row in rows if part in (sys.argv[1:] or {part} - {"rooms"})]
        for room, repository, paths in (row for part, row in rows if part == "rooms"):
            if any(row[0] == room for _, row in asked):
                _gather(Path(folder) / "rooms" / room / repository.rsplit("/", 1)[-1], repository, paths)
        report = _run(Path(folder), sorted({row[0] for _, row in asked}), sorted({row[1] for _, row in asked}))
        answers = {(company["name"], one["label"]): one for company in report for one in company["criteria"]}
    counts: Counter[tuple[str, str]] = Counter()
    for part, (room, words, states, *names) in asked:
        verdict = _judge(answers[room, words], states, names)
        counts[part, verdict] += 1
        counts[part, "given"] += answers[room, words]["status"] != "missing"
        if verdict != "right":
            print(verdict, room, words, states, answers[room, words]["reason"], sep=" | ")
    print(*(f"{part}: {count} {verdict}" for (part, verdict), count in sorted(counts.items())), sep="; ")


def _gather(room: Path, repository: str, paths: str) -> None:
    wanted = paths.split(";")
    clones = Path(os.environ[FILINGS]).rglob(repository.rsplit("/", 1)[-1])
    clone = next(one for one in clones if (one / wanted[0]).exists())
    for path in wanted:
        (room / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clone / path, room / path)


def _run(folder: Path, rooms: Sequence[str], asked: Sequence[str]) -> list[dict[str, Any]]:
    """The companies of a report on these rooms, each asked for all that is asked."""
    criteria = [{"id": f"c{number}", "document": words} for number, words in enumerate(asked)]
    companies = [{"name": room, "domain": f"{room}.example", "folder": room} for room in rooms]
    batch = {"name": "Asked", "drive_root": str(folder / "rooms"), "criteria": "criteria.yaml", "companies": companies}
    (folder / "facts").mkdir()
    (folder / "criteria.yaml").write_text(json.dumps({"scale": [0, 4], "criteria": criteria}), "utf-8")
    (folder / "batch.yaml").write_text(json.dumps({**batch, "fact_sources": ["files"], "facts": "facts"}), "utf-8")
    environment = os.environ | {"DILIGENCE_HOME": str(folder / "home"), "DILIGENCE_OCR": "off"}
    command = [sys.executable, "-c", "from diligence import main; main()", "run", str(folder / "batch.yaml")]
    subprocess.run([*command, "--out", str(folder / "out")], env=environment, check=True, stdout=subprocess.DEVNULL)
    found: list[dict[str, Any]] = json.loads((folder / "out" / "report.json").read_text("utf-8"))["companies"]
    return found


def _judge(answer: Mapping[str, Any], states: str, names: Sequence[str]) -> str:
    state = "M" if answer["status"] == "missing" else {4.0: "F", 2.0: "L"}[answer["score"]]
    named = _NAMED.search(answer["reason"])
    if state in states and (state == "M" or (named and any(name in named[1] for name in names))):
        return "right"
    return "open" if state == "M" else "wrong"


if __name__ == "__main__":
    main()
