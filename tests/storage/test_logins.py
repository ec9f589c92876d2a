"""Logins and sessions: one login an account, sessions that end, and nothing left of those who are gone.

What is sealed rests unreadable, opens with the right key for the right purpose, and the key is kept close.
"""

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import text
from sqlmodel import select

from storage import database, logins
from storage.columns import now
from storage.logins import (
    LONGEST_PAUSE,
    LONGEST_SESSION,
    NotSealedHere,
    SecretKeyUnusable,
    StoredLogin,
    WebSession,
    Whose,
)
from tests.storage import processes


def login(account: str | None = "ada@example.com", whose: Whose = Whose.WEB, token: str = "sealed") -> StoredLogin:
    return StoredLogin(
        whose=whose, account=account, account_id=account and f"id-{account}", client_id="c", refresh_token=token
    )


def save(given: StoredLogin) -> int:
    with database.writing() as session:
        return logins.save_login(session, given)


def start(secret: str, given: StoredLogin | None = None) -> None:
    with database.writing() as session:
        logins.start_session(session, secret, given or login())


def found(secret: str) -> StoredLogin | None:
    with database.reading() as session:
        pair = logins.find_session(session, secret)
    return pair[1] if pair else None


def stored() -> list[str | None]:
    with database.reading() as session:
        return sorted((each.account for each in session.exec(select(StoredLogin))), key=str)


def age(secret: str, *, created: timedelta = timedelta(), used: timedelta = timedelta()) -> None:
    """Let the session have begun, and have been used last, so long ago."""
    with database.writing() as session:
        one = session.get_one(WebSession, logins.hash_key(secret))
        one.created_at, one.used_at = now() - created, now() - used
        session.add(one)


def test_a_second_login_of_an_account_takes_the_place_of_the_first(database_url: str) -> None:
    first = save(login(token="old"))
    with database.writing() as session:
        logins.mark_revoked(session, first, "old")
    assert save(login(token="new")) == first
    with database.reading() as session:
        kept = logins.find_login(session, first)
    assert kept is not None
    assert (kept.refresh_token, kept.revoked_at) == ("new", None)


def test_accounts_without_a_name_are_never_taken_for_each_other(database_url: str) -> None:
    assert save(login(None)) != save(login(None))


def test_the_machine_has_one_login_apart_from_those_of_the_web(database_url: str) -> None:
    of_the_web = save(login("ada@example.com"))
    save(login("ada@example.com", Whose.MACHINE))
    newer = save(login("bob@example.com", Whose.MACHINE))
    with database.reading() as session:
        machine = logins.machine_login(session)
        assert machine is not None
        assert (machine.id, machine.account) == (newer, "bob@example.com")
        assert logins.find_login(session, of_the_web) is not None
    assert stored() == ["ada@example.com", "bob@example.com"]


def test_an_id_is_never_given_again(database_url: str) -> None:
    start("s", login("ada@example.com"))
    before = found("s")
    assert before is not None
    with database.writing() as session:
        logins.end_session(session, "s")
    assert stored() == []
    assert save(login("bob@example.com")) != before.id


def test_revoking_spares_a_token_that_came_meanwhile(database_url: str) -> None:
    one = save(login(token="new"))
    with database.writing() as session:
        logins.mark_revoked(session, one, "old")
    with database.reading() as session:
        kept = logins.find_login(session, one)
        assert kept is not None
        assert kept.revoked_at is None


def test_a_new_refresh_token_is_kept(database_url: str) -> None:
    one = save(login(token="old"))
    with database.writing() as session:
        logins.mark_used(session, one)
        logins.mark_used(session, one, "new")
    with database.reading() as session:
        kept = logins.find_login(session, one)
        assert kept is not None
        assert kept.refresh_token == "new"


def test_a_session_is_found_by_its_secret_and_the_table_does_not_hold_it(database_url: str) -> None:
    start("hush-hush")
    account = found("hush-hush")
    assert account is not None
    assert account.account == "ada@example.com"
    assert found("hush") is None
    with database.reading() as session:
        rows = session.connection().execute(text("SELECT * FROM sessions")).all()
    assert "hush" not in str(rows)


@pytest.mark.parametrize(
    ("created", "used", "stands"),
    [
        (LONGEST_SESSION - timedelta(minutes=1), timedelta(), True),
        (LONGEST_SESSION, timedelta(), False),
        (timedelta(days=1), LONGEST_PAUSE - timedelta(minutes=1), True),
        (timedelta(days=1), LONGEST_PAUSE, False),
    ],
)
def test_a_session_ends_after_its_time_and_after_a_pause(
    database_url: str, created: timedelta, used: timedelta, stands: bool
) -> None:
    start("s")
    age("s", created=created, used=used)
    assert (found("s") is not None) is stands


def test_use_is_noted_now_and_then_and_keeps_a_session(database_url: str) -> None:
    start("s")
    with database.reading() as session:
        pair = logins.find_session(session, "s")
    assert pair is not None
    assert not logins.wants_noting(pair[0])
    age("s", used=LONGEST_PAUSE - timedelta(seconds=30))
    with database.writing() as session:
        pair = logins.find_session(session, "s")
        assert pair is not None
        assert logins.wants_noting(pair[0])
        logins.note_use(session, "s")
    with database.reading() as session:
        assert session.get_one(WebSession, logins.hash_key("s")).used_at > now() - timedelta(minutes=1)


def test_a_login_goes_with_its_last_session(database_url: str) -> None:
    start("first")
    start("second")
    with database.writing() as session:
        logins.end_session(session, "first")
    assert found("first") is None
    assert found("second") is not None
    with database.writing() as session:
        logins.end_session(session, "second")
    assert stored() == []


def test_what_has_ended_is_cleared_away_when_somebody_logs_in(database_url: str) -> None:
    save(login("runs@example.com", Whose.MACHINE))
    start("old", login("bob@example.com"))
    age("old", created=LONGEST_SESSION)
    start("new", login("ada@example.com"))
    assert stored() == ["ada@example.com", "runs@example.com"]


def test_a_state_passes_once(database_url: str) -> None:
    with database.writing() as session:
        assert logins.spend_state(session, "state")
    with database.writing() as session:
        assert not logins.spend_state(session, "state")
        assert logins.spend_state(session, "another")


SEAL = "from storage import logins; print(logins.unseal(logins.seal('quiet', 'test'), 'test'))"


@pytest.fixture
def key_file(home: Path) -> Path:
    """The key that the first use makes."""
    logins.seal("quiet", "test")
    return home / logins.KEY_FILE


def test_what_is_sealed_can_be_opened_and_not_read(home: Path) -> None:
    sealed = logins.seal("1//refresh 🙂", "refresh token")
    assert "refresh" not in sealed
    assert logins.unseal(sealed, "refresh token") == "1//refresh 🙂"


def test_another_purpose_opens_nothing(home: Path) -> None:
    with pytest.raises(NotSealedHere):
        logins.unseal(logins.seal("quiet", "a"), "b")


@pytest.mark.parametrize("sealed", ["", "x", "ü", "gAAAAA", "\0"])
def test_what_was_never_sealed_is_refused(home: Path, sealed: str) -> None:
    with pytest.raises(NotSealedHere):
        logins.unseal(sealed, "test")


def test_what_is_too_old_is_refused(home: Path) -> None:
    with pytest.raises(NotSealedHere):
        logins.unseal(logins.seal("quiet", "test"), "test", max_age=-1)


def test_the_key_file_is_its_owners_alone(key_file: Path) -> None:
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert not [path.name for path in key_file.parent.iterdir() if path.name.startswith(".secret")]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_key_that_others_can_read_is_refused(key_file: Path, mode: int) -> None:
    key_file.chmod(mode)
    with pytest.raises(SecretKeyUnusable, match="chmod 600"):
        logins.seal("quiet", "test")


def test_a_key_behind_a_link_is_refused(key_file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    key_file.rename(elsewhere)
    key_file.symlink_to(elsewhere)
    with pytest.raises(SecretKeyUnusable):
        logins.seal("quiet", "test")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_of_another_user_is_refused(key_file: Path) -> None:
    os.chown(key_file, 65534, 65534)
    with pytest.raises(SecretKeyUnusable):
        logins.seal("quiet", "test")


def test_a_damaged_key_is_told_without_its_content(key_file: Path) -> None:
    key_file.write_text("hush-hush")
    with pytest.raises(SecretKeyUnusable, match="openssl rand") as raised:
        logins.seal("quiet", "test")
    assert "hush" not in str(raised.value)


def test_processes_that_start_together_share_one_key(new_home: Path) -> None:
    new_home.mkdir()
    running = [processes.start(SEAL) for _ in range(4)]
    assert [process.communicate(timeout=60)[0] for process in running] == ["quiet\n"] * 4
    assert [path.name for path in new_home.iterdir()] == [logins.KEY_FILE]


def test_the_setting_takes_the_place_of_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", Fernet.generate_key().decode())
    assert logins.unseal(logins.seal("quiet", "test"), "test") == "quiet"
    assert not (home / logins.KEY_FILE).exists()


def test_a_key_is_changed_by_naming_the_new_one_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", old)
    sealed = logins.seal("quiet", "test")
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", f"{new}, {old}")
    assert logins.unseal(sealed, "test") == "quiet"
    sealed_anew = logins.seal("quiet", "test")
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", new)
    assert logins.unseal(sealed_anew, "test") == "quiet"
    with pytest.raises(NotSealedHere):
        logins.unseal(sealed, "test")


@pytest.mark.parametrize("key", [",", "short", "x" * 44 + "="])
def test_a_setting_that_is_no_key_is_told_without_its_content(
    home: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", key)
    with pytest.raises(SecretKeyUnusable, match="DILIGENCE_SECRET_KEY") as raised:
        logins.seal("quiet", "test")
    assert "short" not in str(raised.value)
