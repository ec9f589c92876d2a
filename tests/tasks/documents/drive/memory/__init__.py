"""A third drive, in memory, to show that a drive is one package and one line of the registry.

It has users with rights of their own, access tokens, and a login in the browser. A test that uses it adds the
line: `monkeypatch.setitem(registry.DRIVES, "memory", "tests.tasks.documents.drive.memory")`.
"""

from pydantic import Field

from storage.settings import Settings
from tasks.documents.drive.drive import AccountAccess, DriveDescription


class MemoryDriveSettings(Settings):
    """Which store it is, and whose view runs have."""

    memory_store: str = Field("default", description="the name of the store that documents lie in")
    memory_account: str | None = Field(None, description="the user that runs act as")


DESCRIPTION = DriveDescription(
    name="memory",
    title="the memory drive",
    settings=MemoryDriveSettings,
    provider="tests.tasks.documents.drive.memory.provider",
    accounts=AccountAccess(
        provider="Memory",
        token="A token of the memory drive.",
        login="tests.tasks.documents.drive.memory.login",
    ),
)
