"""How often a statement is judged rightly, by kinds of change, on filings and policies.

DILIGENCE_BENCH_STATEMENTS names a folder with `FinDVer` (yilunzhao/FinDVer: `financial_reports`, `data/testmini.json`)
and `site-policy` (github/site-policy), as their repositories have them. Documents are parted in two by a hash of their
names; `DILIGENCE_BENCH_PART=development` measures the part that the rules were written on.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final

from tasks.language.sentences import sentences
from tasks.statements.answers import Ground, prove
from tasks.statements.check import Finding, check
from tests.benchmarks.altered import altered, true_forms

_REPORTS: Final = 20
_POLICIES: Final = 10
_EACH: Final = 12
"""Sentences drawn from a document."""

Counts = dict[str, Counter[bool]]


def documents(folder: Path, *, shut: bool) -> Iterator[tuple[str, list[str]]]:
    """Documents of one part, each with its paragraphs."""
    for path in _part(sorted((folder / "FinDVer/financial_reports").glob("*.json")), shut=shut)[:_REPORTS]:
        yield path.name, [each["context"] for each in json.loads(path.read_text(encoding="utf-8"))["context"]]
    for path in _part(sorted((folder / "site-policy/Policies").rglob("*.md")), shut=shut)[:_POLICIES]:
        yield path.name, [part for part in path.read_text(encoding="utf-8").split("\n\n") if len(part) > 100]


def _part(paths: Sequence[Path], *, shut: bool) -> list[Path]:
    return [path for path in paths if int(sha256(path.name.encode()).hexdigest(), 16) % 2 == shut]


def _drawn(folder: Path, *, shut: bool) -> Iterator[tuple[str, str]]:
    """Sentences with their paragraphs, the same in each run."""
    for name, paragraphs in documents(folder, shut=shut):
        source = Random(name)
        prose = [paragraph for paragraph in paragraphs if "|" not in paragraph and "\t" not in paragraph]
        source.shuffle(prose)
        count = 0
        for paragraph in prose:
            found = [each for each in sentences(paragraph) if 8 <= len(each.split()) <= 45 and each[-1] == "."]
            if found and count < _EACH:
                count += 1
                yield source.choice(found), paragraph


def statements(folder: Path, *, shut: bool) -> tuple[Counts, Counts]:
    """True and altered statements: how many are supported, by kinds."""
    kept: Counts = {}
    through: Counts = {}
    source = Random(7)
    for sentence, paragraph in _drawn(folder, shut=shut):
        for kind, form in true_forms(sentence, source):
            kept.setdefault(kind, Counter())[check(form, [paragraph]).verdict is Finding.SUPPORTED] += 1
        for kind, form in altered(sentence, source):
            through.setdefault(kind, Counter())[check(form, [paragraph]).verdict is Finding.SUPPORTED] += 1
    return kept, through


def claims(folder: Path) -> tuple[Counter[bool], Counter[bool]]:
    """Claims of a public set that a filing refutes, and such as several of its passages together entail."""
    refuted, entailed = Counter[bool](), Counter[bool]()
    for claim in json.loads((folder / "FinDVer/data/testmini.json").read_text(encoding="utf-8")):
        if claim["subset"] != "ie":
            continue
        path = folder / "FinDVer/financial_reports" / claim["report"]
        if not path.exists():
            continue
        report = json.loads(path.read_text(encoding="utf-8"))
        passages = {each["id"]: each["context"] for each in report["context"]}
        text = "\n\n".join(passages[each] for each in claim["relevant_context"] if each in passages)
        stands = bool(prove(claim["statement"], "", "", [Ground(1, None, text, text)]).text)
        (entailed if claim["entailment_label"] else refuted)[stands] += 1
    return refuted, entailed


def run() -> None:
    """Print the tables of the part that is measured."""
    folder = Path(os.environ["DILIGENCE_BENCH_STATEMENTS"])
    shut = os.environ.get("DILIGENCE_BENCH_PART") != "development"
    kept, through = statements(folder, shut=shut)
    _table("true statements: kept", kept)
    _table("altered statements: through", through)
    refuted, entailed = claims(folder)
    print(f"claims that a filing refutes: through {refuted[True]} of {refuted.total()}")
    print(f"claims from several passages: kept {entailed[True]} of {entailed.total()}")


def _table(title: str, counts: Counts) -> None:
    print(f"{title} | {sum(each[True] for each in counts.values())} of {sum(each.total() for each in counts.values())}")
    for kind in sorted(counts):
        print(f"  {kind} | {counts[kind][True]} of {counts[kind].total()}")


if __name__ == "__main__":
    run()
