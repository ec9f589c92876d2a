"""`diligence check`: a memo held against a folder, its two files and its exit status."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from docx import Document
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from deployments.operations import ask, index, list_documents
from deployments.rooms import check
from tasks.errors import BadRequest
from tests.tasks.reading.ooxml.compounds import agile
from tests.written import saved


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
