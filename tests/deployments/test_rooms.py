"""`diligence figures` and `check`: a room's figures as a table, JSON and CSV; a memo held against a folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import typer
from docx import Document
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from deployments.operations import ask, index, list_documents
from deployments.rooms import check, figures, read_room
from deployments.terminal import PrintFormat
from storage import database
from storage.texts import find_ledgers, texts_without_ledger
from tasks.errors import BadRequest
from tasks.figures.document_figures import VERSION
from tasks.figures.ledger import LedgerText, build, room_ledger
from tests.tasks.reading.ooxml.compounds import agile
from tests.written import saved

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


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "Lease.txt").write_text("The lease ends in 2031. The rent is EUR 40,000 a month.\n")
    return tmp_path


def test_a_contradicted_memo_ends_with_1_and_has_a_page_and_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memo = folder / "room" / "memo.md"
    memo.write_text("# The lease\n\n- The rent is EUR 50,000 a month.\n- The lease ends in 2031.\n")
    for _ in range(2):  # the memo and its files lie in the room, and prove nothing
        with pytest.raises(SystemExit) as ended:
            check(memo, "room")
        assert ended.value.code == 1
        assert "1 supported, 1 contradicted, 0 not found." in capsys.readouterr().out
    answer = json.loads((folder / "room" / "memo.json").read_text())
    assert answer["memo"] == "memo.md"
    assert [(row["kind"], row["verdict"]) for row in answer["statements"]] == [
        ("figure", "contradicted"),
        ("statement", "supported"),
    ]
    place = answer["statements"][0]["places"][0]
    assert place["document_name"] == "Lease.txt"
    assert place["text"] == "The rent is EUR 40,000 a month."
    assert "✗ contradicted" in (folder / "room" / "memo.html").read_text()


def test_what_cannot_be_read_is_wrong_use(folder: Path) -> None:
    (folder / "memo.docx").write_bytes(b"no document")
    (folder / "memo.txt").write_text("")
    for name in ("memo.docx", "memo.txt", "absent.md"):
        with pytest.raises(BadRequest, match=f"The memo {name}"):
            check(folder / name, "room")
    assert not (folder / "memo.json").exists()


def test_a_memo_with_a_password_is_wrong_use(folder: Path) -> None:
    document = Document()
    document.add_paragraph("The lease ends in 2031.")
    (folder / "locked.docx").write_bytes(agile(saved(document), "secret"))
    page = Canvas(str(folder / "locked.pdf"), encrypt=StandardEncryption("secret"))
    page.drawString(60, 700, "The lease ends in 2031.")
    page.save()
    for name in ("locked.docx", "locked.pdf"):
        with pytest.raises(BadRequest, match=f"The memo {name} cannot be read.*password"):
            check(folder / name, "room")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "command",
    [
        lambda: index("absent"),
        lambda: list_documents("absent"),
        lambda: ask("Who?", room=["absent"]),
        lambda: ask("Who?", context="absent"),
    ],
    ids=["index", "documents", "room", "context"],
)
def test_a_place_that_is_not_there_is_wrong_use_in_every_command(command: Callable[[], None]) -> None:
    with pytest.raises(BadRequest):
        command()


def test_files_of_others_are_not_written_over(folder: Path) -> None:
    memo = folder / "memo.html"
    memo.write_text("<p>The lease ends in 2031.</p>")
    check(memo, "room")
    assert memo.read_text() == "<p>The lease ends in 2031.</p>"
    assert (folder / "memo.html.json").exists()
    (folder / "other.txt").write_text("The lease ends in 2031.")
    (folder / "other.json").write_text("{}")
    with pytest.raises(BadRequest, match="not a checked memo"):
        check(folder / "other.txt", "room")
    check(folder / "other.txt", "room", folder / "out")
    assert (folder / "out" / "other.html").exists()


def test_a_document_of_the_room_that_cannot_be_read_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "memo.md").write_text("The lease ends in 2031.\n")
    (folder / "room" / "Scan.pdf").write_bytes(b"%PDF-1.7 cut off")
    check(folder / "memo.md", "room")
    assert "1 document (Scan.pdf) of the room could not be read" in capsys.readouterr().err
    assert "1 document of the room could not be read" in (folder / "memo.html").read_text()
    (folder / "room" / "Lease.txt").unlink()
    with pytest.raises(BadRequest, match=r"Nothing in room can be read.*Scan\.pdf"):
        check(folder / "memo.md", "room")


def test_a_wrong_room_and_a_wrong_out_say_what_to_do(folder: Path) -> None:
    (folder / "memo.md").write_text("The lease ends in 2031.\n")
    (folder / "empty").mkdir()
    with pytest.raises(BadRequest, match="DILIGENCE_DRIVE_ROOT"):
        check(folder / "memo.md", "absent")
    with pytest.raises(BadRequest, match="Add some"):
        check(folder / "memo.md", "empty")
    with pytest.raises(BadRequest, match=r"it is a file.*another --out"):
        check(folder / "memo.md", "room", folder / "memo.md")
