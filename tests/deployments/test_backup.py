"""`diligence backup` and `diligence restore`: what they say, and how they end."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deployments.administration import backup, restore
from deployments.cli import errors_reported
from storage import logins
from tests.storage import filled


def ended(capsys: pytest.CaptureFixture[str], file: Path, *, replace: bool = False) -> tuple[int, str]:
    """The exit status of `diligence restore`, and the one sentence on stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end, errors_reported():
        restore(file, replace=replace)
    told = capsys.readouterr().err.strip()
    assert "\n" not in told
    assert isinstance(end.value.code, int)
    return end.value.code, told


def test_a_home_goes_into_a_file_and_comes_back(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled.fill()
    file = tmp_path / "a.backup"
    backup(file)
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{file}: 0.")
    assert "key that opens stored logins" in printed.err
    status, told = ended(capsys, file)
    assert (status, "--replace" in told) == (2, True)
    restore(file, replace=True)
    assert str(home / "before-restore-") in capsys.readouterr().err
    assert filled.run_ids() == ["r1"]


def test_a_key_of_the_environment_is_not_in_it_and_it_says_so(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", "A" * 43 + "=")
    filled.fill()
    backup(tmp_path / "a.backup")
    assert "DILIGENCE_SECRET_KEY" in capsys.readouterr().err
    assert not (home / logins.KEY_FILE).exists()


@pytest.mark.parametrize("content", [b"", b"This is a letter.", None], ids=["empty", "a letter", "none"])
def test_what_is_no_backup_is_wrong_use(
    content: bytes | None, new_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "letter.txt"
    if content is not None:
        file.write_bytes(content)
    status, told = ended(capsys, file)
    assert (status, "letter.txt" in told) == (2, True)
    assert not new_home.exists()


def test_a_backup_without_a_home_makes_none(new_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), errors_reported():
        backup(tmp_path / "a.backup")
    assert "no runs in" in capsys.readouterr().err
    assert not new_home.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_home_in_use_is_told(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled.fill()
    file = tmp_path / "a.backup"
    backup(file)
    with closing(sqlite3.connect(home / "diligence.db")) as other:
        other.execute("SELECT count(*) FROM runs").fetchone()
        status, told = ended(capsys, file, replace=True)
    assert (status, told) == (
        1, "The home is in use. Stop the service and wait for runs to end, or stop them; then try again."
    )  # fmt: skip
    assert [path.name for path in home.iterdir() if path.name.startswith(("before", ".restore"))] == []
    restore(file, replace=True)
