"""A drive is one package and one line of the registry: the commands know the third drive without knowing it.

The contract suite runs on it too (`tests/tasks/documents/drive/test_contract.py`), and so do the service's rights
(`tests/api/users/test_rights.py`).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import httpx
import pytest
from pydantic import ValidationError

from deployments.accounts import log_in
from deployments.doctor import doctor
from flows.batch_file import read_batch
from storage.settings import override_settings
from tasks.documents.batch import read_documents
from tasks.documents.drive import registry
from tasks.documents.drive.registry import DriveSettings, acting_as_run_account, choose_drive, open_drive
from tasks.documents.index import document_index, index_room
from tasks.errors import BadRequest, NotConfigured, NotLoggedIn
from tests.tasks.documents.drive.memory.login import agree
from tests.tasks.documents.drive.memory.store import STORES, Store

ADA = "ada@example.com"


@pytest.fixture
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The store that the settings name, with a document of Ada's."""
    monkeypatch.setitem(registry.DRIVES, "memory", "tests.tasks.documents.drive.memory")
    monkeypatch.setenv("DILIGENCE_DRIVE", "memory")
    with pytest.MonkeyPatch.context() as stores:
        store = Store()
        stores.setitem(STORES, "default", store)
        store.add("plan.txt", store.add("Room", store.root(ADA)), b"The merger is planned for May.")
        yield store


def test_the_settings_name_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_drive().title == "the memory drive"
    monkeypatch.setenv("DILIGENCE_DRIVE", "dropbox")
    with pytest.raises(ValidationError, match="Input should be 'local', 'google' or 'memory'"):
        DriveSettings.current()


def test_runs_index_and_read_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotConfigured, match="DILIGENCE_MEMORY_ACCOUNT"):
        index_room("Room")
    monkeypatch.setenv("DILIGENCE_MEMORY_ACCOUNT", ADA)
    room_id = index_room("Room")
    (document,) = (node.id for node in store.nodes.values() if node.content)
    (outcome,) = read_documents(room_id, [document])
    assert (outcome.document_id, outcome.status.value, outcome.characters) == (document, "read", 30)


def test_the_command_line_acts_as_the_account_of_runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_MEMORY_ACCOUNT", ADA)
    with acting_as_run_account():
        index = document_index(open_drive().find_folder("Room")).answer()
    assert "plan.txt" in json.dumps(index)
    with pytest.raises(NotLoggedIn, match="your Memory account"):
        open_drive()


def test_the_doctor_examines_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DILIGENCE_MEMORY_ACCOUNT", ADA)
    with pytest.raises(SystemExit, match=r"^0$"):
        doctor()
    assert f"✓ drive        memory, 3 nodes, runs act as {ADA}" in capsys.readouterr().out


def test_the_machine_logs_in_to_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    accounts: SimpleQueue[str] = SimpleQueue()
    opened: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", opened.put)
    thread = Thread(target=lambda: accounts.put(log_in(0, browser=True, patience=20)))
    thread.start()
    answer = agree(store, opened.get(timeout=20), ADA)
    assert "You are logged in as ada@example.com" in httpx.get(answer.pop("to"), params=answer).text
    thread.join(20)
    assert accounts.get(timeout=20) == ADA
    assert index_room("Room")


def test_a_batch_file_may_name_it_and_not_choose_its_account(store: Store, tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text("scale: [0, 5]\ncriteria:\n  - {id: a, ask: 'Is revenue recurring?'}\n")
    batch = "name: Screen\ncriteria: criteria.yaml\ncompanies:\n  - {name: A, domain: a.example, folder: Room}\n"
    (tmp_path / "batch.yaml").write_text(f"{batch}drive: memory\n")
    with override_settings(read_batch(tmp_path / "batch.yaml").settings):
        assert choose_drive().name == "memory"
    (tmp_path / "batch.yaml").write_text(f"{batch}memory_account: {ADA}\n")
    with pytest.raises(BadRequest, match="environment, as DILIGENCE_MEMORY_ACCOUNT"):
        read_batch(tmp_path / "batch.yaml")
