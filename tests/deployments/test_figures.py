"""`diligence figures`: a room's figures as a table, JSON and CSV; a text is looked through once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import typer

from deployments.rooms import figures, read_room
from deployments.terminal import PrintFormat
from storage import database
from storage.texts import find_ledgers, texts_without_ledger
from tasks.errors import BadRequest
from tasks.figures.document_figures import VERSION
from tasks.figures.ledger import LedgerText, build, room_ledger

Room = Callable[..., str]


@pytest.fixture
def room(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    folder = tmp_path / "room"
    folder.mkdir()
    (folder / "Audited accounts 2024.txt").write_text(
        "Annual recurring revenue was EUR 7.1 million at 31 December 2024.\n"
    )
    (folder / "Deck.txt").write_text("ARR, EUR m\n2023\t4.6\n2024\t9.4\n")
    return "room"


def test_conflicts_stand_below_the_table(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures(room)
    out = capsys.readouterr().out.splitlines()
    assert out[0].split()[:3] == ["concept", "value", "unit"]
    assert len(out) == 5
    assert out[-1].startswith("Conflict: recurring_revenue, 2024-12-31: 7,100,000 EUR (Audited accounts 2024.txt")


def test_values_are_grouped_and_places_are_whole_where_no_terminal_is(
    room: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figures(room)
    lines = capsys.readouterr().out.splitlines()
    assert "  7,100,000  EUR " in lines[2]
    assert "…" not in "".join(lines)


def test_a_label_names_its_concept(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures(room, concept="ARR")
    assert len(capsys.readouterr().out.splitlines()) == 5
    figures(room, concept="Turnover")
    assert capsys.readouterr().err == "No figure was found.\n"


@pytest.mark.parametrize("written", get_args(PrintFormat))
def test_what_was_left_out_is_said_also_where_nothing_was_found(
    written: PrintFormat, room: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "room" / "Plan.csv").write_text("GBP thousand,2023\nEBITDA,€10\n")
    figures(room, concept="ebitda", format=written)
    assert capsys.readouterr().err == "No figure was found.\nLeft out: 1 (units that contradict).\n"


def test_json_has_the_rows_of_the_report(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures(room, concept="recurring_revenue", format="json")
    answer = json.loads(capsys.readouterr().out)
    assert [figure["value"] for figure in answer["figures"]] == ["4600000", "7100000", "9400000"]
    assert answer["figure_conflicts"][0]["rule"] == "basis: audited before deck"


def test_csv_has_a_line_a_figure(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures(room, format="csv")
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_an_unknown_concept_is_wrong_use(room: str) -> None:
    with pytest.raises(typer.BadParameter, match="did you mean revenue"):
        figures(room, concept="revenu")


def test_an_unknown_room_says_so(room: str) -> None:
    with pytest.raises(BadRequest, match=r"no run of this name, and no folder 'elsewhere'.*DILIGENCE_DRIVE_ROOT"):
        figures("elsewhere")


def test_a_text_is_looked_through_once(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures(room)
    with database.reading() as session:
        ledgers = find_ledgers(session, [1, 2])
        assert texts_without_ledger(session, ledgers, VERSION) == []
    assert len(ledgers) == 2
    texts = [LedgerText(text_id, f"d{text_id}", "a.txt") for text_id in ledgers]
    assert build(texts) == 0
    assert len(room_ledger(texts).figures) == 3


def test_a_users_concepts_are_found_in_texts_that_were_looked_through_before(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / room / "Orders.txt").write_text("EUR m\t2024\t2023\nOrder intake\t3.2\t2.9\n")
    figures(room)
    assert "order_intake" not in capsys.readouterr().out
    concepts = tmp_path / "concepts.yaml"
    concepts.write_text("order_intake: {kind: duration, labels: [order intake]}\n")
    monkeypatch.setenv("DILIGENCE_FIGURE_CONCEPTS", str(concepts))
    figures(room, concept="order_intake", format="json")
    assert [figure["value"] for figure in json.loads(capsys.readouterr().out)["figures"]] == ["2900000", "3200000"]


def test_a_document_that_takes_too_long_has_no_figures_and_is_named(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / room / "Long.txt").write_text("Revenue was EUR 9.4 million in 2024.\n" * 100_000)
    texts = read_room(room).texts
    monkeypatch.setattr("tasks.figures.ledger.TOGETHER", 10_000_000)  # a process gets all three, then each by itself
    monkeypatch.setenv("DILIGENCE_DOCUMENT_TIMEOUT", "1")
    why = "figures of this document were not looked for: it took longer than 1 s (DILIGENCE_DOCUMENT_TIMEOUT)"
    assert build(texts) == 3
    assert build(texts) == 0  # what was cut off is not tried again within the same limits
    figures(room, format="json")
    out, err = capsys.readouterr()
    assert [figure["value"] for figure in json.loads(out)["figures"]] == ["4600000", "7100000", "9400000"]
    assert json.loads(out)["left_out"][why] == 1
    assert f"Long.txt: {why}.\n" in err
    monkeypatch.setenv("DILIGENCE_DOCUMENT_TIMEOUT", "2")
    assert build(texts) == 1
