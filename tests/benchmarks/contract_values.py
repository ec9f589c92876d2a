"""What the table of documents and questions finds in 510 public contracts, without a model, against lawyers' answers.

CUAD (Hendrycks et al. 2021, https://arxiv.org/abs/2103.06268, CC BY 4.0) holds contracts that listed companies filed,
with the answers that lawyers gave for each. DILIGENCE_BENCH_CUAD names the folder with `master_clauses.csv` and
`full_contract_txt`, as doublea1186/CUAD-SOTA1 has them. The contracts fall into two halves by their names; rules are
made on the open one.

    python -m tests.benchmarks.contract_values [shut]    prints the figures of a half; of the open one what is wrong too

A day counts if it is the same, a duration within a day, a law if one names the other, parties if each that is given is
among the lawyers'. The lawyers call an exclusion of indirect damages a cap on liability and give no notice for ending a
contract without cause; the table does neither, so that of the first much is missing, and of the second only the notice
of a renewal is compared.
"""

import csv
import hashlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, Final

from tasks.table.cells import read_cells
from tasks.table.clauses import FINDERS
from tasks.table.columns import Column

ANSWERS: Final = {
    "governing_law": "Governing Law-Answer",
    "agreement_date": "Agreement Date-Answer",
    "effective_date": "Effective Date-Answer",
    "expiry": "Expiration Date-Answer",
    "renewal": "Renewal Term-Answer",
    "notice": "Notice Period To Terminate Renewal- Answer",
    "assignment": "Anti-Assignment-Answer",
    "change_of_control": "Change Of Control-Answer",
    "liability_cap": "Cap On Liability-Answer",
    "parties": "Parties-Answer",
}
LONGEST: Final = 300_000  # characters
_DAYS: Final = {"D": 1, "W": 7, "M": 30, "Y": 360}
_WORDS: Final = ("one", "two", "three", "four", "five", "six")
_LEGAL_FORM: Final = re.compile(r"\b(?:inc|incorporated|corp|corporation|ltd|limited|llc|co|company|the)\b|\W")
_COLUMNS: Final = [Column(id=name).model_copy(update={"find": name}) for name in FINDERS]


def contracts(half: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The contracts of a half, `open` or `shut`: name, text, and the lawyers' answers by column of the file."""
    folder = Path(os.environ["DILIGENCE_BENCH_CUAD"])
    files = {path.stem.strip(): path for path in (folder / "full_contract_txt").glob("*.txt")}
    with (folder / "master_clauses.csv").open(encoding="utf-8", errors="replace", newline="") as table:
        for row in csv.DictReader(table):
            name = re.sub(r"\.pdf$", "", row["Filename"], flags=re.IGNORECASE).strip()
            is_open = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0
            if name in files and is_open == (half == "open"):
                text = files[name].read_text(encoding="utf-8", errors="replace")
                if len(text) <= LONGEST:
                    yield name, text, {column: answer.strip() for column, answer in row.items()}


def compare(name: str, value: Any, answers: dict[str, str]) -> tuple[bool, bool] | None:
    """Whether the lawyers gave an answer, and whether a value agrees with it; None if they cannot be compared."""
    answer = answers[ANSWERS[name]]
    if name == "governing_law":
        said, place = answer.casefold(), str(value).casefold()
        return bool(answer), place in said or any(one.strip() in place for one in re.split("[;,]", said) if one.strip())
    if name == "parties":
        plain = _LEGAL_FORM.sub("", answer.casefold())
        return bool(answer), value is not None and all(_LEGAL_FORM.sub("", one.casefold()) in plain for one in value)
    if name in {"assignment", "change_of_control", "liability_cap"}:
        is_so = answer.casefold() == "yes"
        return is_so, (value in {True, "consent", "forbidden"}) is is_so
    if name in {"renewal", "notice"}:
        days = _count_days(answer)
        if days is None and (answer or name == "notice"):
            return None
        given = int(value[1:-1]) * _DAYS[value[-1]] if value else 0
        return days is not None, days is not None and abs(given - days) <= 1
    if not answer and name == "effective_date":
        return False, value == _day(answers["Agreement Date-Answer"])
    day = "perpetual" if name == "expiry" and "perpetual" in answer.casefold() else _day(answer)
    return None if answer and day is None else (day is not None, value == day)


def _count_days(answer: str) -> int | None:
    match = re.search(rf"(\d+|{'|'.join(_WORDS)})[\s-]*(?:\(\d+\)\s*)?(day|week|month|year)", answer.casefold())
    if match is None:
        return None
    count = _WORDS.index(match[1]) + 1 if match[1] in _WORDS else int(match[1])
    return count * _DAYS[match[2][0].upper()]


def _day(answer: str) -> str | None:
    match = re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{2}|\d{4})", answer)
    with suppress(ValueError):
        if match is not None:
            year = int(match[3]) + (0 if len(match[3]) == 4 else 2000 if int(match[3]) < 60 else 1900)
            return date(year, int(match[1]), int(match[2])).isoformat()
    return None


def main() -> None:
    """Print for each column how many values were given and right, and how many of the lawyers' were found."""
    half = "shut" if "shut" in sys.argv else "open"
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for contract, text, answers in contracts(half):
        cells = read_cells(text, _COLUMNS)
        for name in ANSWERS:
            value = cells[name]["value"]
            if name == "assignment" and value == "free" and answers[ANSWERS[name]].casefold() != "yes":
                value = None  # the lawyers have no word for it
            compared = compare(name, value, answers)
            if compared is None:
                continue
            is_answered, agrees = compared
            is_given = value is not None
            found = (is_given, is_given and agrees, is_answered, is_answered and is_given and agrees)
            counts[name] = [count + one for count, one in zip(counts[name], found, strict=True)]
            if half == "open" and is_given and not agrees:
                print(f"{name}: {value} ({answers[ANSWERS[name]][:80]}) {contract[:60]}")
    rows = {**counts, "all": [sum(column) for column in zip(*counts.values(), strict=True)]}
    for name, (given, right, answered, found) in rows.items():
        print(f"{name:18} {right:5} of {given:5} given are right, {right / given:.3f}", end="; ")
        print(f"{found:5} of {answered:5} found, {found / answered:.3f}")


if __name__ == "__main__":
    main()
