"""Opens the memory drive (a `DriveProvider`)."""

from collections.abc import Iterator

from storage import database, logins
from tasks.documents.drive.drive import Bearer, CheckResult, ConfiguredAccount, Drive, Identity, Login
from tasks.errors import NotConfigured, NotLoggedIn, Unavailable
from tests.tasks.documents.drive.memory import MemoryDriveSettings
from tests.tasks.documents.drive.memory.drive import MemoryDrive
from tests.tasks.documents.drive.memory.store import STORES, Store


def open_drive(identity: Identity | None) -> Drive:
    return MemoryDrive(_store(), _user_of(identity))


def run_identity() -> Identity:
    if MemoryDriveSettings.current().memory_account is not None:
        return ConfiguredAccount()
    with database.reading() as session:
        login = logins.machine_login(session)
    if login is None or login.id is None:
        raise NotConfigured("Set DILIGENCE_MEMORY_ACCOUNT, or run `diligence login`.")
    return Login(login.id)


def check_reachable(seconds: float) -> None:
    _store()


def examine() -> Iterator[CheckResult]:
    yield CheckResult("drive", f"memory, {len(_store().nodes)} nodes, runs act as {_user_of(run_identity())}")


def _store() -> Store:
    name = MemoryDriveSettings.current().memory_store
    if name not in STORES:
        raise Unavailable(f"There is no store {name!r}. Check DILIGENCE_MEMORY_STORE.")
    return STORES[name]


def _user_of(identity: Identity | None) -> str:
    user = None
    if isinstance(identity, Bearer):
        user = _store().tokens.get(identity.token)
    elif isinstance(identity, ConfiguredAccount):
        user = MemoryDriveSettings.current().memory_account
    elif isinstance(identity, Login):
        with database.reading() as session:
            login = logins.find_login(session, identity.id)
        user = login.account if login is not None else None
    if user is None:
        raise NotLoggedIn("The memory drive does not know this login.")
    return user
