"""A backup put back, in a home that nobody uses: all of it or nothing, whenever the process is killed.

The database is put in place by one renaming (SQLite) or one transaction (PostgreSQL). The key comes before it, beside
the one that was there: whichever database is there, its logins can be opened.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from storage import backup, database
from storage.backup import DATABASE, KEY, BackupUnusable, Manifest
from storage.columns import now
from storage.errors import DatabaseUnavailable, unavailable
from storage.migrations import HEAD, upgrade
from storage.rows import copy_from_sqlite, is_empty


@dataclass(frozen=True, slots=True)
class Restored:
    """The backup's manifest, and where what was in the home before is kept, if there was anything."""

    manifest: Manifest
    kept: Path | None


class HomeNotEmpty(Exception):
    """The home has something already."""


def restore(file: Path, *, replace: bool = False) -> Restored:
    """Put a backup into the home, and bring it to the newest schema.

    Args:
        file: the backup.
        replace: whether it takes the place of what is in the home, which is then kept aside.

    Raises:
        BackupUnusable: it is no backup, damaged, or one of a newer release; nothing was changed.
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
    backup.read_manifest(file)  # before a home is made for it
    address = make_url(database.url())
    is_sqlite = address.get_backend_name() == "sqlite"
    home = database.home()
    place = Path(address.database or "").absolute() if is_sqlite else home / DATABASE
    with backup.workspace(place.parent, ".restore.new") as folder:
        manifest = backup.unpack(file, folder)
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
        raise BackupUnusable("A newer release of diligence has made this backup. Update diligence.") from None
    if backup.check_database(path) != HEAD:
        raise BackupUnusable("The backup cannot be brought to the schema of this release.")


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
    """Put the file in place. The one there stays whole until that moment: `aside` gets another link to it."""
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
    handle = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put_rows(unpacked: Path, connection: Connection, aside: Path | None) -> None:
    connection.rollback()  # what was read so far holds locks
    upgrade(connection.engine)
    if aside is not None:
        backup.save(connection, aside / "diligence.backup")
    connection.rollback()
    with connection.begin():
        copy_from_sqlite(unpacked, connection)
