"""Backups: one file with everything a home needs to continue, made while the home is in use, and restored later.

It is a zip archive of three members: `diligence.db` (SQLite, whichever database the home uses, so that a backup can
move to the other kind), `secret.key` (if the home has one: it decrypts the stored logins) and `manifest.json` with the
size and SHA-256 of both. What can be made again is left out: the spool, pages drawn for evidence, the contents of
archives, Prefect's record of runs.

A backup is restored into a home that nobody uses, completely or not at all, even if the process is killed. The database
is put in place by one rename (SQLite) or one transaction (PostgreSQL). The key comes first, beside the one that was
there, so that the logins of either database can be decrypted.
"""

import fcntl
import json
import os
import shutil
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import iter_modules
from typing import IO, Any

from sqlalchemy import Connection, Integer, Table, create_engine, insert, inspect, make_url, select, text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlmodel import SQLModel

import storage
from storage import database, logins
from storage.columns import now
from storage.errors import DatabaseUnavailable, unavailable
from storage.migrations import HEAD, upgrade

_AT_ONCE = 500  # rows


def is_empty(connection: Connection) -> bool:
    """Whether no table has a row."""
    quoted = connection.dialect.identifier_preparer.quote
    return not any(
        connection.exec_driver_sql(f"SELECT 1 FROM {quoted(name)} LIMIT 1").first()  # noqa: S608 - names of the database
        for name in inspect(connection).get_table_names()
        if name != "alembic_version"
    )


def copy_into_sqlite(source: Connection, path: Path) -> None:
    """Copy every row into a new SQLite database in the empty file `path`."""
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    upgrade(engine)
    with engine.begin() as target:
        _copy(source, target)


def copy_from_sqlite(path: Path, target: Connection) -> None:
    """Replace all rows of a PostgreSQL database with those of the SQLite database `path`, which has the newest schema.

    The caller commits; until then nothing changes.
    """
    names = ", ".join(f'"{table.name}"' for table in _tables())
    target.execute(text("SET LOCAL lock_timeout = '10s'"))
    target.execute(text(f"TRUNCATE {names}"))
    with create_engine(f"sqlite:///{path}", poolclass=NullPool).connect() as source:
        _copy(source, target)
    for table in _tables():
        if "id" in table.c and isinstance(table.c.id.type, Integer):  # the next id is one that no row has
            newest = f'SELECT coalesce(max(id), 0) + 1 FROM "{table.name}"'  # noqa: S608 - names of our own
            sequence = f"pg_get_serial_sequence('\"{table.name}\"', 'id')"
            target.execute(text(f"SELECT setval({sequence}, ({newest}), false)"))


def _tables() -> list[Table]:
    """Every table, each after the tables that its rows refer to."""
    for module in iter_modules(storage.__path__):
        import_module(f"storage.{module.name}")
    return SQLModel.metadata.sorted_tables


def _copy(source: Connection, target: Connection) -> None:
    for table in _tables():
        rows = source.execute(select(table), execution_options={"yield_per": _AT_ONCE})
        for part in rows.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in part])


FORMAT = 1
DATABASE, KEY = "diligence.db", logins.KEY_FILE
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 64 * 1024
_PIECE = 1024 * 1024  # bytes that are copied at a time
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError, RuntimeError, ValueError)
"""What zipfile and our own look at the members raise of a file that is not a backup."""


class BackupUnusable(Exception):
    """The file is not a backup, or one that cannot be used; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backup's description of itself. `files` maps each member's name to its size in bytes and SHA-256 in hex."""

    format: int
    program: str
    schema: str
    made_at: str
    files: dict[str, dict[str, Any]]

    @property
    def size(self) -> int:
        """The size of all members in bytes, unpacked."""
        return sum(int(file["size"]) for file in self.files.values())


def make(file: Path) -> Manifest:
    """Save the home into `file`, readable by its owner only. An earlier backup there stays until the new one is
    complete.

    Raises:
        BackupUnusable: there is something else at that place, or another backup is being written there.
        DatabaseUnavailable: the database cannot be read, or is damaged.
        OSError: the file cannot be written.
    """
    file = file.absolute()
    if file.exists():
        try:
            read_manifest(file)
        except BackupUnusable:
            raise BackupUnusable(f"{file.name} exists, and is not a backup. Name another file.") from None
    with database.reading() as session:
        # All of it as it is at one moment, while others write.
        is_sqlite = database.url().startswith("sqlite")
        session.connection(execution_options=None if is_sqlite else {"isolation_level": "REPEATABLE READ"})
        return save(session.connection(), file)


def save(connection: Connection, file: Path) -> Manifest:
    """Save the home, its database through `connection`, into `file`; see `make`."""
    with workspace(file.parent, f".{file.name}.new") as folder:
        copied = folder / DATABASE
        os.close(os.open(copied, os.O_CREAT | os.O_EXCL, 0o600))
        if connection.dialect.name == "sqlite":
            with closing(sqlite3.connect(copied)) as target:
                driver: Any = connection.connection.driver_connection
                try:
                    driver.backup(target)  # in one step: who writes meanwhile neither waits nor is seen
                except sqlite3.Error as error:
                    raise unavailable(error) from None
        else:
            copy_into_sqlite(connection, copied)
        members = {DATABASE: copied}
        key = database.home() / KEY
        if key.exists():
            members[KEY] = key
        packed = folder / "backup"
        manifest = _pack(packed, members, check_database(copied))
        _verify(packed, manifest)
        packed.replace(file)
        _keep_on_disk(file.parent)
    return manifest


@contextmanager
def workspace(parent: Path, name: str) -> Iterator[Path]:
    """A folder for unfinished files, removed at the end; remains of a killed process are removed first.

    Raises:
        BackupUnusable: another process is at work there.
    """
    folder = parent / name
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupUnusable("Another process is working on this backup. Wait for it to end.") from None
        for left in folder.iterdir():
            left.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)


def check_database(path: Path) -> str:
    """Check a database that nobody uses, put it into a single file, and return its schema revision.

    Raises:
        BackupUnusable: it is damaged, or not ours.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
            integrity = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.DatabaseError as error:
        raise BackupUnusable(f"The database is damaged, or not one of diligence ({error}).") from None
    if integrity != "ok" or orphan is not None or revision is None:
        raise BackupUnusable("The database is damaged: its own check fails. Restore the last backup that was whole.")
    return str(revision[0])


def _pack(packed: Path, members: Mapping[str, Path], schema: str) -> Manifest:
    files: dict[str, dict[str, Any]] = {}
    handle = os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as raw:
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
            for name, path in members.items():
                with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as target:
                    files[name] = _copy_home(source, target)
            manifest = Manifest(FORMAT, version("diligence"), schema, f"{now():%Y-%m-%dT%H:%M:%SZ}", files)
            archive.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=1))
        raw.flush()
        os.fsync(raw.fileno())
    return manifest


def _copy_home(source: IO[bytes], target: IO[bytes] | None, most: int | None = None) -> dict[str, Any]:
    """Copy a file, or only read it; returns its size and hash. Nothing beyond `most` bytes is read."""
    size, digest = 0, sha256()
    while piece := source.read(_PIECE):
        size += len(piece)
        if most is not None and size > most:
            break
        digest.update(piece)
        if target is not None:
            target.write(piece)
    return {"size": size, "sha256": digest.hexdigest()}


def read_manifest(file: Path) -> Manifest:
    """The manifest of the backup in `file`, against which `unpack` checks its members.

    Raises:
        BackupUnusable: it is not a backup, or one of a newer release.
        OSError: it cannot be read.
    """
    with _open(file) as archive:
        return _manifest(archive)


@contextmanager
def _open(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except _BROKEN as error:
        reason = "it is damaged or cut short" if zipfile.is_zipfile(file) else "it is not a backup, or was cut short"
        raise BackupUnusable(f"{file.name} is not a complete backup of diligence: {reason}.") from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    names = [member.filename for member in archive.infolist()]
    if any(member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for member in archive.infolist()):
        raise ValueError
    if _MANIFEST not in names or archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
        raise ValueError
    values = json.loads(archive.read(_MANIFEST))
    if isinstance(values, dict) and isinstance(values.get("format"), int) and values["format"] > FORMAT:
        raise BackupUnusable("This backup was made by a newer release of diligence. Update diligence.")
    try:
        files = {name: {"size": int(file["size"]), "sha256": file["sha256"]} for name, file in values["files"].items()}
        manifest = Manifest(**{**values, "files": files})
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError from error
    if not all(isinstance(value, str) and value.isprintable() for value in (values["program"], values["schema"])):
        raise ValueError
    # Members are opened by these names alone: no path of the archive is ever used, and nothing else may be in it.
    if sorted(names) != sorted([*files, _MANIFEST]) or not {DATABASE} <= files.keys() <= {DATABASE, KEY}:
        raise ValueError
    return manifest


def _verify(file: Path, manifest: Manifest) -> None:
    with _open(file) as archive:
        for name, expected in manifest.files.items():
            with archive.open(name) as member:
                if _copy_home(member, None) != expected:
                    raise BackupUnusable("What was written differs from what was read back. Try another disk.")


def unpack(file: Path, folder: Path) -> Manifest:
    """Write the members of a backup into `folder` under their own names, and check them against the manifest.

    Raises:
        BackupUnusable: it is not a backup, damaged, or one of a newer release.
        OSError: it cannot be read, or the disk is full.
    """
    with _open(file) as archive:
        manifest = _manifest(archive)
        if shutil.disk_usage(folder).free < manifest.size:
            raise BackupUnusable(
                f"There is not enough disk space for the {manifest.size // 1024**2 + 1} MB of this backup."
            )
        for name, expected in manifest.files.items():
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with archive.open(name) as member, os.fdopen(handle, "wb") as target:
                if _copy_home(member, target, most=int(expected["size"])) != expected:
                    raise BackupUnusable(f"{file.name} is damaged: {name} in it is not what was saved.")
    if check_database(folder / DATABASE) != manifest.schema:
        raise BackupUnusable(f"{file.name} is damaged: its database is not the one that was saved.")
    return manifest


def _keep_on_disk(folder: Path) -> None:
    """Make a rename in this folder survive a power failure."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class Restored:
    """The backup's manifest, and where the previous contents of the home are kept, if there were any."""

    manifest: Manifest
    kept: Path | None


class HomeNotEmpty(Exception):
    """The home already has contents."""


def restore(file: Path, *, replace: bool = False) -> Restored:
    """Put a backup into the home, and bring it to the newest schema.

    Args:
        file: the backup.
        replace: whether it takes the place of what is in the home, which is then kept aside.

    Raises:
        BackupUnusable: it is not a backup, damaged, or one of a newer release; nothing was changed.
        HomeNotEmpty: there is something in the home, and `replace` is off.
        DatabaseInUse: a service or another command has the home open.
        DatabaseUnavailable: the database of the home cannot be reached.
        OSError: the file cannot be read, or the home not be written.
    """
    try:
        return _restore(file, replace=replace)
    except SQLAlchemyError as error:
        raise unavailable(error) from None


def _restore(file: Path, *, replace: bool) -> Restored:
    read_manifest(file)  # before a home is made for it
    address = make_url(database.url())
    is_sqlite = address.get_backend_name() == "sqlite"
    home = database.home()
    place = Path(address.database or "").absolute() if is_sqlite else home / DATABASE
    with workspace(place.parent, ".restore.new") as folder:
        manifest = unpack(file, folder)
        unpacked = folder / DATABASE
        _upgrade(unpacked)
        with database.alone() as connection:
            aside = None
            if _has_something(connection):
                if not replace:
                    raise HomeNotEmpty
                aside = home / f"before-restore-{now():%Y%m%d-%H%M%S-%f}"
                aside.mkdir(mode=0o700)
            _put_key(folder / KEY, home / KEY, aside)
            if is_sqlite:
                _put_file(unpacked, place, aside)
            else:
                _put_rows(unpacked, connection, aside)
    return Restored(manifest, aside)


def _upgrade(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    try:
        upgrade(engine)
    except DatabaseUnavailable:
        raise BackupUnusable("This backup was made by a newer release of diligence. Update diligence.") from None
    if check_database(path) != HEAD:
        raise BackupUnusable("The backup cannot be migrated to the schema of this release.")


def _has_something(connection: Connection) -> bool:
    try:
        return not is_empty(connection)
    except DatabaseError:  # a damaged database: what can be saved of it is its owner's to say
        return True


def _put_key(new: Path, place: Path, aside: Path | None) -> None:
    if not new.exists():
        return
    keys = [new.read_text(encoding="ascii").strip()]
    if place.exists():
        old = place.read_text(encoding="ascii").strip()
        if aside is not None:
            shutil.copy2(place, aside / KEY)
        keys += [key for key in old.split(",") if key not in keys[0].split(",")]
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=".secret-")  # 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(",".join(keys) + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(place)
    finally:
        Path(name).unlink(missing_ok=True)


def _put_file(unpacked: Path, place: Path, aside: Path | None) -> None:
    """Put the file in place. The existing one stays complete until that moment: `aside` becomes another link to it."""
    if aside is not None:
        try:
            (aside / DATABASE).hardlink_to(place)
        except OSError:  # another file system, or one without links
            shutil.copy2(place, aside / DATABASE)
    for beside in ("-wal", "-shm", "-journal"):  # only of a damaged database, and never good for another one
        left = Path(f"{place}{beside}")
        if left.exists() and aside is not None:
            shutil.copy2(left, aside / f"{DATABASE}{beside}")
        left.unlink(missing_ok=True)
    with unpacked.open("rb+") as file:
        os.fsync(file.fileno())
    unpacked.replace(place)
    _keep_on_disk(place.parent)


def _put_rows(unpacked: Path, connection: Connection, aside: Path | None) -> None:
    connection.rollback()  # what was read so far holds locks
    upgrade(connection.engine)
    if aside is not None:
        save(connection, aside / "diligence.backup")
    connection.rollback()
    with connection.begin():
        copy_from_sqlite(unpacked, connection)
