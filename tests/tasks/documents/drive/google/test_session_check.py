"""`diligence doctor --drive-check`: what Drive answers, in counts, times and shapes that may be sent to anybody."""

import json
from pathlib import Path

import pytest

from deployments.doctor import doctor
from tests.google.credentials import authorised_user_file
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.natives import SPREADSHEET
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.rooms import ADA, BOB


@pytest.fixture(autouse=True)
def account(emulator: DriveEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The file of the account of runs, Ada's; her words are secret."""
    file = authorised_user_file(emulator, tmp_path / "login.json", ADA)
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(file))
    monkeypatch.setattr("tasks.documents.drive.google.session_check.time.sleep", lambda seconds: None)
    monkeypatch.setattr("tasks.documents.drive.google.download._moving_exports", {})  # as in a process of its own
    content: dict[str, str] = json.loads(file.read_text())
    return content


def filled(emulator: DriveEmulator, place: Item) -> Item:
    world = emulator.world
    top = world.folder("Hush", place)
    inner = world.folder("Hush inner", top)
    world.file("hush.txt", inner, b"hush words")
    world.native("Hush plan", inner, text="hush hush")
    world.native("Hush table", inner, SPREADSHEET, text="hush")
    return top


@pytest.mark.parametrize("place", ["My Drive", "a shared drive", "of Bob"])
def test_it_says_what_drive_answers_and_nothing_of_what_is_there(
    emulator: DriveEmulator, account: dict[str, str], capsys: pytest.CaptureFixture[str], place: str
) -> None:
    world = emulator.world
    roots = {"My Drive": lambda: world.root(ADA), "of Bob": lambda: world.root(BOB)}
    top = filled(emulator, roots.get(place, lambda: world.drive("Deals", {ADA: "reader"}))())
    if place == "of Bob":
        world.share(top, ADA)
    emulator.settings.export_moves_version = True
    with pytest.raises(SystemExit) as end:
        doctor(top.id)
    out = capsys.readouterr().out
    assert end.value.code == 0, out
    assert "1 folders, 1 deep, 3 documents, 2 native, 0 warnings, complete" in out
    log = {"My Drive": "the account's", "a shared drive": "its own", "of Bob": "may lack something"}[place]
    assert f"log of changes: {log}" in out
    assert "0 more and 0 fewer than before" in out
    assert "times like 9999-99-99T99:99:99.999Z" in out
    assert "version +1, +1 a second later, modifiedTime the same" in out
    assert "of 3 documents 3 may be downloaded" in out
    del account["type"]
    secrets = [*account.values(), *world.items, *world.users, *(item.name for item in world.items.values())]
    assert not [secret for secret in secrets if secret in out]
    assert not [token for token in emulator.accounts.access if token in out]


def test_what_fails_is_a_line_and_the_rest_is_said(emulator: DriveEmulator, capsys: pytest.CaptureFixture[str]) -> None:
    top = filled(emulator, emulator.world.root(ADA))
    emulator.faults.set(Fault(on="files.media", reason="cannotDownloadFile"))
    with pytest.raises(SystemExit) as end:
        doctor(top.id)
    out = capsys.readouterr().out
    assert end.value.code == 1
    assert "✗ download     fails: NotAllowed (" in out
    assert "✓ export spreadsheet" in out


def test_a_folder_that_is_not_there_is_not_named(emulator: DriveEmulator, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        doctor("hush-hush")
    out = capsys.readouterr().out
    assert "✗ folder       fails: NotFound" in out
    assert "hush" not in out


def test_another_drive_has_nothing_to_try(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE", "local")
    with pytest.raises(SystemExit) as end:
        doctor("rooms")
    assert end.value.code == 1
    assert "no sessions to try out" in capsys.readouterr().out
