"""Locks behind a real PgBouncer: refused where it gives the session away, held where it does not."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, create_engine, make_url

from storage import database
from storage.errors import DatabaseUnavailable
from storage.locks import Claims
from tests.waiting import free_port, is_listening, wait_for

PGBOUNCER = shutil.which("pgbouncer")
needed = pytest.mark.skipif(PGBOUNCER is None, reason="PgBouncer is not installed (Debian's package pgbouncer)")


@pytest.fixture
def pooled(request: pytest.FixtureRequest, postgres_url: str, tmp_path: Path) -> Iterator[Engine]:
    """The tests' PostgreSQL by way of a PgBouncer in a mode."""
    address = make_url(postgres_url)
    name, user = address.database, address.username or "postgres"
    folder = str(address.query.get("host") or address.host)
    port = free_port()
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n{name} = host={folder} port={address.port or 5432} user={user}\n[pgbouncer]\nauth_type = any\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\npool_mode = {request.param}\n"
    )
    for part in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        part.chmod(0o755)
    owner = ["-u", Path(folder).owner()] if os.geteuid() == 0 and folder.startswith("/") else []
    process = subprocess.Popen([str(PGBOUNCER), "-q", *owner, str(settings)], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: is_listening(port))
        engine = create_engine(URL.create(address.drivername, user, host="127.0.0.1", port=port, database=name))
        yield engine
        engine.dispose()
    finally:
        process.terminate()
        process.wait(5)


@needed
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_a_pooler_in_transaction_mode_is_refused_in_a_sentence(
    pooled: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", pooled.url.render_as_string(hide_password=False))
    with pytest.raises(DatabaseUnavailable, match="a pooler in transaction mode"), database.claims():
        pass
    with pytest.raises(DatabaseUnavailable, match="a pooler in transaction mode"), database.locked("answer"):
        pass


@needed
@pytest.mark.parametrize("pooled", ["session"], indirect=True)
def test_a_pooler_in_session_mode_holds_locks(pooled: Engine) -> None:
    with Claims(pooled) as one, Claims(pooled) as other:
        assert one.take("company")
        assert not other.take("company")
