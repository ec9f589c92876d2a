"""The spool: empty after use, cleared of what dead processes left, and never of what a living one needs."""

import signal
from pathlib import Path

import pytest

from tasks.documents.drive.spool import spool
from tasks.errors import Unavailable
from tests.storage import processes

HOLD = """
from tasks.documents.drive.spool import spool
with spool() as folder:
    (folder / "fetched").write_text("words")
    print(folder, flush=True)
    __import__("time").sleep(600)
"""


def test_a_spool_is_gone_with_what_lies_in_it(home: Path) -> None:
    with spool() as folder:
        (folder / "fetched").write_text("words")
        assert folder.parent == home / "spool"
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list((home / "spool").iterdir()) == []


def test_it_is_gone_after_a_failure_too(home: Path) -> None:
    with pytest.raises(RuntimeError), spool():
        raise RuntimeError
    assert list((home / "spool").iterdir()) == []


def test_a_living_process_keeps_its_spool_and_a_killed_one_does_not(home: Path) -> None:
    other = processes.start(HOLD)
    assert other.stdout is not None
    theirs = Path(other.stdout.readline().strip())
    with spool() as ours:
        assert (theirs / "fetched").exists()
        assert ours != theirs
    other.send_signal(signal.SIGKILL)
    other.communicate()
    assert (theirs / "fetched").exists()
    with spool():
        assert not theirs.exists()


def test_two_spools_of_one_process(home: Path) -> None:
    with spool() as first, spool() as second:
        assert first.is_dir()
        assert second.is_dir()


def test_a_stray_file_in_the_spool_does_no_harm(home: Path) -> None:
    (home / "spool").mkdir(parents=True)
    (home / "spool/stray").write_text("x")
    with spool() as folder:
        assert folder.is_dir()


def test_no_room_for_the_spool_is_named_by_the_setting(home: Path) -> None:
    (home / "spool").write_text("a file")
    with pytest.raises(Unavailable, match="DILIGENCE_HOME") as raised, spool():
        pass
    assert str(home) not in raised.value.message
