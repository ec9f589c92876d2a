"""Whoever is asking is named for a block, in its threads, and nowhere else."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest

from tasks.documents.drive.drive import Bearer, ConfiguredAccount, Login, acting_as, caller
from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.errors import NotConfigured, NotLoggedIn


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
