"""Ids as users give them, and opening the drive that the settings name.

Whoever is asking is named for a block, in its threads, and nowhere else.
"""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest

from tasks.documents.drive.drive import Bearer, ConfiguredAccount, Login, acting_as, caller, identifier
from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.errors import BadRequest, NotConfigured, NotLoggedIn
from tests.cases import cases


@cases(
    "given",
    [
        "1a-B_c",
        "  1a-B_c\n",
        "https://drive.example/file/d/1a-B_c/view?usp=sharing",
        "http://127.0.0.1:8000/file/d/1a-B_c/view",
        "HTTPS://drive.example/drive/folders/1a-B_c",
        "https://drive.example/drive/u/0/folders/1a-B_c?resourcekey=0-x#top",
        "https://drive.example/open?id=1a-B_c",
        "https://drive.example/open?usp=x&id=1a-B_c&authuser=0",
        "https://docs.example/document/d/1a-B_c/edit",
        "https://drive.example/file/d/1a%2DB%5Fc/view",
    ],
)
def test_an_id_alone_or_within_a_url(given: str) -> None:
    assert identifier(given, "document_id") == "1a-B_c"


@cases("given", ["", "   ", "\n"])
def test_nothing_is_a_bad_request_that_names_the_field(given: str) -> None:
    with pytest.raises(BadRequest) as raised:
        identifier(given, "document_id")
    assert list(raised.value.fields) == ["document_id"]


@cases(
    "given", ["https://example.com", "https://drive.example/file/d//view", "https://drive.example/open?id=", "http://?"]
)
def test_a_url_of_another_kind_is_a_bad_request_that_says_what_is_expected(given: str) -> None:
    with pytest.raises(BadRequest, match="/file/d/ID") as raised:
        identifier(given, "cloud_drive_folder")
    assert list(raised.value.fields) == ["cloud_drive_folder"]


def test_the_drive_is_where_the_settings_say_now(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(root))
    first = open_drive()
    assert open_drive() is first
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    assert open_drive().name != first.name
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "missing"))
    with pytest.raises(NotConfigured, match="DILIGENCE_DRIVE_ROOT"):
        open_drive()


def test_without_a_setting_it_is_the_current_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.txt").write_text("words")
    monkeypatch.chdir(root)
    assert [document.name for document in open_drive().list_folder("root", recursive=True).documents] == ["a.txt"]


def test_nobody_is_asking_until_somebody_is_named() -> None:
    assert caller() is None
    with acting_as(Login(1)):
        assert caller() == Login(1)
        with acting_as(Bearer("token")):
            assert caller() == Bearer("token")
        assert caller() == Login(1)
        with acting_as(None):
            assert caller() is None
    assert caller() is None


def test_a_thread_knows_who_is_asking_when_it_is_told() -> None:
    with acting_as(Login(1)), ThreadPoolExecutor(1) as threads:
        assert threads.submit(copy_context().run, caller).result() == Login(1)
        assert threads.submit(caller).result() is None


def test_identities_are_the_same_for_the_same_caller_and_show_no_token() -> None:
    assert (
        len({Bearer("a"), Bearer("a"), Bearer("b"), Login(1), Login(1), ConfiguredAccount(), ConfiguredAccount()}) == 4
    )
    assert "hush-hush" not in repr(Bearer("hush-hush"))


def test_the_local_folder_needs_no_account(home: Path) -> None:
    with acting_as_run_account():
        assert caller() is None


def test_google_answers_to_nobody_without_an_account(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE", "google")
    with pytest.raises(NotLoggedIn, match="your Google account"):
        open_drive()


def test_google_asks_for_an_account_of_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE", "google")
    with pytest.raises(NotConfigured, match="DILIGENCE_GOOGLE_CREDENTIALS"), acting_as_run_account():
        pass
