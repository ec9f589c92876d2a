"""Which Prefect server commands use where the environment names none: that of Prefect's active profile.

Whoever has run `prefect config set PREFECT_API_URL=…` or `prefect profile use` means us too. diligence's own flows read
no profile: the server that a command starts for itself has a home of its own.
See https://docs.prefect.io/v3/concepts/settings-and-profiles.
"""

import os
import tomllib
from pathlib import Path
from typing import Final

_NAMES: Final = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING")


def use_prefect_profile() -> None:
    """Put the server of the active profile, and what opens it, into the environment, unless that names a server."""
    if "PREFECT_API_URL" in os.environ:
        return
    folder = os.environ.get("PREFECT_HOME") or os.path.expanduser("~/.prefect")  # noqa: PTH111 - raises nothing
    file = os.environ.get("PREFECT_PROFILES_PATH") or f"{folder}/profiles.toml"
    try:
        written = tomllib.loads(Path(file).read_text(encoding="utf-8"))
        profile = written["profiles"][os.environ.get("PREFECT_PROFILE") or written["active"]]
        values = {name: str(profile[name]) for name in _NAMES if name in profile}
    except (OSError, ValueError, LookupError, TypeError):  # no such file, or none of Prefect's: it names no server
        return
    if "PREFECT_API_URL" in values:
        os.environ |= values
