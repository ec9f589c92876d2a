"""Whoever is asking is named for a block, in its threads, and nowhere else."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest

from tasks.documents.drive.identity import Bearer, Login, Service, acting_as, acting_as_own, caller
from tasks.errors import NotConfigured, NotLoggedIn


def test_nobody_is_asking_until_somebody_is_named() -> None:
    with pytest.raises(NotLoggedIn, match="/login"):
        caller()
    with acting_as(Login(1)):
        assert caller() == Login(1)
        with acting_as(Bearer("token")):
            assert caller() == Bearer("token")
        assert caller() == Login(1)
        with acting_as(None), pytest.raises(NotLoggedIn):
            caller()
    with pytest.raises(NotLoggedIn):
        caller()


def test_a_thread_knows_who_is_asking_when_it_is_told() -> None:
    with acting_as(Login(1)), ThreadPoolExecutor(1) as threads:
        assert threads.submit(copy_context().run, caller).result() == Login(1)
        with pytest.raises(NotLoggedIn):
            threads.submit(caller).result()


def test_identities_are_the_same_for_the_same_caller_and_show_no_token() -> None:
    assert len({Bearer("a"), Bearer("a"), Bearer("b"), Login(1), Login(1), Service(), Service()}) == 4
    assert "hush-hush" not in repr(Bearer("hush-hush"))


def test_the_local_folder_asks_nobody(home: Path) -> None:
    with acting_as_own(), pytest.raises(NotLoggedIn):
        caller()


def test_google_asks_for_an_account_of_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE", "google")
    with pytest.raises(NotConfigured, match="DILIGENCE_GOOGLE_CREDENTIALS"), acting_as_own():
        pass
