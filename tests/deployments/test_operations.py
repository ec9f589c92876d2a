"""`diligence documents`: what the documents of a room are, as a table, JSON and CSV."""

import csv
import json
import time
from io import StringIO
from pathlib import Path

import pytest

from deployments.operations import list_documents
from tasks.documents.drive.registry import open_drive
from tasks.documents.index import document_index
from tests.tasks.reading.pdf.test_unknown_characters import without_names

LEASE = "Lease\nLandlord and tenant, as varied by the Facility Agreement dated 4 May 2020.\n" + "The rent is due. " * 30


@pytest.fixture
def room(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    folder = tmp_path / "room"
    folder.mkdir()
    (folder / "Lease.txt").write_text(LEASE)
    (folder / "Copy of Lease.txt").write_text(LEASE)
    (folder / "Notes.txt").write_text("=1+1\nNothing of note.")
    time.sleep(0.06)  # of what was written within 50 ms nothing is remembered: it may change again unseen
    return "room"


def test_the_table_has_kinds_families_and_what_is_not_there(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    list_documents(room)
    header, first, second, notes, missing = capsys.readouterr().out.splitlines()
    assert header.split()[:2] == ["document_name", "kind_title"]
    assert [line.split("  ")[0] for line in (first, second, notes)] == ["Copy of Lease.txt", "Lease.txt", "Notes.txt"]
    assert {"with" in line for line in (first, second)} == {True, False}
    assert missing.startswith("Not in the room: “Facility Agreement dated 4 May 2020”, which ")


def test_documents_of_one_name_are_told_apart_by_their_folders(
    room: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / room / name).mkdir()
        (tmp_path / room / name / "Plan.txt").write_text(f"The plan of {name}.")
    list_documents(room)
    first = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    assert {"a/Plan.txt", "b/Plan.txt", "Notes.txt"} <= set(first)


def test_a_room_without_documents_is_told(room: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    list_documents("empty")
    assert capsys.readouterr() == ("", "empty has no documents.\n")


def test_json_and_csv_have_the_same_rows(room: str, capsys: pytest.CaptureFixture[str]) -> None:
    list_documents(room, "json")
    answer = json.loads(capsys.readouterr().out)
    list_documents(room, "csv")
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert [row["kind"] for row in answer["documents"]] == ["lease", "lease", None]
    assert [row["kind"] for row in rows] == ["lease", "lease", ""]
    assert [row["kind"] for row in answer["cited"]] == ["loan_agreement"]


def test_the_index_has_the_kinds_of_what_was_read(room: str) -> None:
    folder = open_drive().find_folder(room)
    assert '"kind"' not in document_index(folder).as_json()
    list_documents(room)
    (category,) = document_index(folder).answer()["document_index"]
    assert [entry.get("kind") for entry in category["documents"]] == ["Lease", "Lease", None]


def test_characters_that_nobody_knows_make_no_family(
    room: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    for name in ("Steel", "Timber"):
        (tmp_path / room / f"{name}.pdf").write_bytes(without_names(times=9) + f"% {name}\n".encode())
    list_documents(room, "json")
    families = {row["document_name"]: row["family"] for row in json.loads(capsys.readouterr().out)["documents"]}
    assert (families["Steel.pdf"], families["Timber.pdf"]) == (None, None)
    assert families["Lease.txt"] is not None
