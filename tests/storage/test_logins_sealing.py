"""What is sealed rests unreadable, opens with the right key for the right purpose, and the key is kept close."""

import os
import stat
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from storage import logins
from storage.logins import NotSealedHere, SecretKeyUnusable
from tests.storage import processes

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
