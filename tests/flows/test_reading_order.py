"""The same room gives the same report to the byte, in whatever order its documents were read."""

import json
import random
import re
from itertools import zip_longest
from pathlib import Path

import pytest
from openpyxl import Workbook
from typer.testing import CliRunner

from deployments.cli import app
from flows.batch import batch
from flows.index_folder import index_folder
from storage import database, documents
from tasks.documents.batch import read_documents
from tasks.figures.ledger import LedgerText, build
from tests.flows.conftest import write_batch, write_room
from tests.homes import make_home

pytestmark = pytest.mark.usefixtures("without_prefect")

ROOM = {
    "01 Finance/accounts 2024 (signed).txt": "Audited accounts 2024\nRevenue in 2024 was EUR 12.4 million.\n",
    "01 Finance/accounts.txt": "Revenue in 2024 was EUR 12.9 million.\nHeadcount at 31 December 2024 was 120.\n",
    "02 Other/accounts.txt": "Revenue in 2024 was EUR 13.1 million.\nHeadcount at 31 December 2024 was 130.\n",
    "03 Drafts/accounts.txt": "Revenue in 2024 was EUR 14.1 million.\nNinety percent of revenue is recurring.\n",
    "a copy.txt": "Ninety percent of revenue is recurring, and customers stay.\nChurn in 2024 was 4 %.\n",
    "z copy.txt": "Ninety percent of revenue is recurring, and customers stay.\nChurn in 2024 was 4 %.\n",
    "m near.txt": "Ninety percent of revenue is recurring, and customers stay long.\nChurn in 2024 was 5 %.\n",
    "b/minutes 2025-01-02.txt": "Most of the revenue is recurring.\nThe company was founded in 2012.\n",
    "c/minutes 2025-01-02.txt": "Most of the revenue is recurring.\nThe company was founded in 2013.\n",
    "broken.pdf": "",
    "broken too.pdf": "no",
}


def _write(folder: Path) -> Path:
    batch_file = write_batch(folder)
    write_room(folder / "rooms" / "alpha", ROOM)
    write_room(
        folder / "rooms" / "beta", {f"{number}.txt": f"{text}For Beta.\n" for number, text in enumerate(ROOM.values())}
    )
    for number in range(3):
        book = Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.append(["EUR thousand", "2023", "2024"])
        sheet.append(["Revenue", 11_000 + number, 12_000 + number])
        path = folder / "rooms" / "alpha" / f"{'zab'[number]} accounts" / "accounts.xlsx"
        path.parent.mkdir()
        book.save(path)
    criteria = folder / "criteria.yaml"
    criteria.write_text(
        criteria.read_text()
        + '  - {id: growing, figure: revenue, rule: "growth >= 5 %"}\n'
        + '  - {id: staff, figure: headcount, rule: ">= 100"}\n'
        + '  - {id: churn, ask: "How many customers leave in a year?"}\n'
    )
    (folder / "memo.md").write_text(
        "Revenue in 2024 was EUR 12.4 million. Ninety percent of revenue is recurring. The company was founded in 2012."
        " Headcount was 130 at the end of 2024. “Most of the revenue is recurring.”\n"
    )
    return batch_file


def _read_in_order(folder: Path, order: random.Random) -> None:
    """Read each document of both rooms by itself, and find its figures, in an order of chance."""
    rooms = {room: index_folder(f"rooms/{room}") for room in ("alpha", "beta")}
    with database.reading() as session:
        listed = [row for room_id in rooms.values() for row in documents.room_documents(session, room_id)]
    order.shuffle(listed)
    texts: dict[int, list[LedgerText]] = {}
    for row in listed:
        for outcome in read_documents(row.room_id, [row.document_id]):
            if outcome.text_id is not None:
                text = LedgerText(outcome.text_id, row.document_id, row.name, row.path)
                texts.setdefault(row.room_id, []).append(text)
    for of_room in texts.values():
        build(of_room)


_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?|\d+ \w+ \d{4}, \d\d:\d\d UTC"
)


def _written(folder: Path, out: Path, memo: Path) -> dict[str, str]:
    """What was written and printed of a run, without its id, its times and its home."""
    report = json.loads((out / "report.json").read_text())
    run = report["run"]["id"]
    files = {
        path.relative_to(out).as_posix(): path.read_text()
        for path in sorted(out.rglob("*"))
        if path.suffix in {".json", ".html", ".md", ".csv", ".txt"}
    }
    runner = CliRunner()
    for name, arguments in {
        "figures": ["figures", "rooms/alpha", "--format", "json"],
        "figures of the run": ["figures", run, "--format", "csv"],
        "check": ["check", str(memo), "--room", "rooms/alpha", "--out", str(folder / "checked")],
    }.items():
        result = runner.invoke(app, arguments)
        assert result.exit_code in {0, 1}, result.output
        files[name] = f"{result.exit_code}\n{result.output}"
    files |= {path.name: path.read_text() for path in sorted((folder / "checked").iterdir())}
    own = {run: "RUN", run.replace("-", "-<wbr>"): "RUN", str(folder): "FOLDER"}
    for name, text in files.items():
        for one, word in own.items():
            text = text.replace(one, word)  # noqa: PLW2901
        files[name] = _TIMES.sub("TIME", text)
    return files


def _differences(name: str, one: str, other: str) -> list[str]:
    pairs = zip_longest(one.splitlines(), other.splitlines())
    return [f"{name}:{number}: {left} | {right}" for number, (left, right) in enumerate(pairs, 1) if left != right]


def _one(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> dict[str, str]:
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(home)))
    _read_in_order(folder, random.Random(seed))
    out = home / "out"
    batch(folder / "batch.yaml", out=out)
    return _written(home, out, folder / "memo.md")


@pytest.mark.parametrize("orders", [2, pytest.param(6, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_the_order_of_reading_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, orders: int) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
    folder = tmp_path / "screen"
    _write(folder)
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(folder))
    first, *others = [_one(folder, tmp_path / f"home {seed}", monkeypatch, seed) for seed in range(orders)]
    for other in others:
        assert list(other) == list(first)
        assert [line for name in first for line in _differences(name, first[name], other[name])] == []
