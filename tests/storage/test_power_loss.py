"""What a machine leaves in PostgreSQL when its power goes in the middle of a transaction."""

import os
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from storage import database
from tests.servers.database_server import DatabaseServer
from tests.servers.machine import IS_POSSIBLE, Machine
from tests.waiting import wait_for

WRITES = """
import sys, time
from pathlib import Path
from sqlalchemy import text
from storage import database
with database.writing() as session:
    session.connection().execute(text("UPDATE alembic_version SET version_num = version_num"))
    Path(sys.argv[1]).touch()
    time.sleep(600)
"""


@pytest.mark.slow  # PostgreSQL takes 25 s to notice
@pytest.mark.skipif(not IS_POSSIBLE, reason="a network namespace needs root, ip and nsenter")
def test_rows_that_a_machine_without_power_was_writing_are_free_within_a_minute(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Machine() as machine, DatabaseServer() as server:
        server.stop()
        server.start(machine.address)
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", server.url())
        database.migrate()
        there = os.environ | {
            "DILIGENCE_DATABASE_URL": server.url(host=machine.address),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        writing = machine.start([sys.executable, "-c", WRITES, str(tmp_path / "writes")], there)
        wait_for((tmp_path / "writes").exists)
        machine.cut_power(writing)
        writing.communicate()
        with database.writing() as session:
            session.connection().execute(text("SET LOCAL lock_timeout = '60s'"))
            session.connection().execute(text("UPDATE alembic_version SET version_num = version_num"))
        database.close()
