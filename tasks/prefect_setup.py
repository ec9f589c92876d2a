"""Tells Prefect, before it is imported, to keep waits short and to read no file from a data room.

Prefect takes 1.2 s to import and reads its settings then, so nothing here imports it.
"""

import os
import sys
from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from pydantic_settings import DotEnvSettingsSource
from pydantic_settings.sources import ConfigFileSourceMixin

from storage.context import holding

TAG: Final = "diligence"
"""Marks our deployments and flow runs among those of others on the same server."""
TRACKING_LOG: Final = "tasks.tracking"
"""The logger that tells what Prefect fails at."""
PATIENCE: Final = {
    "PREFECT_API_REQUEST_TIMEOUT": "10",  # seconds; Prefect's own 60 would hold a run up for as long
    "PREFECT_CLIENT_MAX_RETRIES": "1",  # for a server whose SQLite is locked; Prefect's own 5 take a minute
    "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",  # a request more that can fail
}


def be_brief() -> None:
    """Make Prefect wait less and retry less than by default. Prefect reads this from the environment on import.

    It also makes Prefect read no settings from the current folder, which may be a data room: `.env`, `prefect.toml` and
    `pyproject.toml` can name other servers, databases and code, or contain no valid text. Prefect has no setting for
    that (3.8.8, prefect/settings/sources.py), so its readers of such files are made to return nothing; nobody else here
    uses them.
    """
    for name, value in PATIENCE.items():
        os.environ.setdefault(name, value)
    if "prefect" not in sys.modules:  # else it is a worker's, whose settings are its own
        name_profiles()
        DotEnvSettingsSource._read_env_files = ConfigFileSourceMixin._read_files = lambda *_: {}  # type: ignore[assignment, method-assign]  # noqa: SLF001


def name_profiles() -> Path:
    """Set the file with Prefect's profiles, which Prefect would otherwise look for in the current folder's files."""
    home = os.environ.get("PREFECT_HOME") or os.path.expanduser("~/.prefect")  # noqa: PTH111 - raises nothing
    os.environ["PREFECT_PROFILES_PATH"] = f"{home}/profiles.toml"
    return Path(home, "profiles.toml")


_is_off: ContextVar[bool] = ContextVar("is_off", default=False)


def untracked() -> AbstractContextManager[None]:
    """Run flows and tasks in the block as plain functions, without Prefect."""
    return holding(_is_off, True)


def is_untracked() -> bool:
    """Whether flows and tasks run without Prefect here."""
    return _is_off.get()
