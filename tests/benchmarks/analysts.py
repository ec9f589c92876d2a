"""How the proof of statements judges what an analyst says of a source, true and false: `analyst_statements.toml`, and
of whole real documents `document_statements.toml`.

DILIGENCE_BENCH_STATEMENTS names a folder with `financebench` (patronus-ai/financebench) and `policies`
(basecamp/policies) as their repositories have them, `corpus`, the real documents in folders by their formats, and
others as `owner+repository`;
without it the sources in our own words are measured alone. `DILIGENCE_BENCH_PART=development` measures the part on
which rules were changed; of the documents, `later` and `last` are parts that were written after changes.
`python -m tests.benchmarks.analysts [documents] [list]` asks of the documents, and prints what is judged wrongly.
"""

import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from tasks.reading import read_document
from tasks.statements.answers import Ground, prove

STATEMENTS: Final = Path(__file__).with_name("analyst_statements.toml")
OF_DOCUMENTS: Final = Path(__file__).with_name("document_statements.toml")


def judged(*, part: str, folder: Path | None, statements: Path = STATEMENTS) -> Iterator[tuple[str, str, str, bool]]:
    """Each statement of a part: its source, its kind (`true`, or what is false in it), itself, whether it stands."""
    for source in tomllib.loads(statements.read_text(encoding="utf-8"))["source"]:
        if source["part"] != part or ("document" in source and folder is None):
            continue
        text = source["text"] if "text" in source else document(folder or Path(), source["document"])
        kinds = [("true", each) for each in source["true"]]
        kinds += [(kind, each) for kind, _, each in (entry.partition(" | ") for entry in source["false"])]
        for kind, statement in kinds:
            answer = prove(statement, "", source["company"], [Ground(1, None, text, text)])
            yield source.get("document", source["company"]), kind, statement, bool(answer.text)


def document(folder: Path, name: str) -> str:
    place, *rest = name.split()
    if place == "policies":
        return (folder / "policies" / rest[0]).read_text(encoding="utf-8")
    if "/" in place:
        return read_document(str(folder / place.replace("/", "+") / name.partition(" ")[2])).text
    if place == "corpus":
        return read_document(str(folder / "corpus" / rest[0])).text
    return _evidence(folder)[rest[0]][int(rest[1])]


@cache
def _evidence(folder: Path) -> dict[str, list[str]]:
    pages: dict[str, list[str]] = {}
    path = folder / "financebench/data/financebench_open_source.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        question: dict[str, Any] = json.loads(line)
        for page in question["evidence"]:
            pages.setdefault(question["doc_name"], []).append(page["evidence_text"])
    return pages


def run() -> None:
    """Print what is kept and what gets through, by kinds; with `list` each statement that is judged wrongly."""
    place = os.environ.get("DILIGENCE_BENCH_STATEMENTS")
    part = os.environ.get("DILIGENCE_BENCH_PART", "shut")
    counts: dict[str, Counter[bool]] = {}
    statements = OF_DOCUMENTS if "documents" in sys.argv else STATEMENTS
    part = "open" if part == "development" and statements is STATEMENTS else part
    for source, kind, statement, stands in judged(
        part=part, folder=Path(place) if place else None, statements=statements
    ):
        counts.setdefault(kind, Counter())[stands] += 1
        if "list" in sys.argv and stands != (kind == "true"):
            print(f"{source} | {kind} | {statement}")
    through = Counter(stands for kind, each in counts.items() if kind != "true" for stands in each.elements())
    print(f"true statements: kept {counts['true'][True]} of {counts['true'].total()}")
    print(f"false statements: through {through[True]} of {through.total()}")
    for kind in sorted(counts):
        print(f"  {kind} | {counts[kind][True]} of {counts[kind].total()}")


if __name__ == "__main__":
    run()
