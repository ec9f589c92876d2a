"""rclone's recursive listing of a folder of the emulator, for comparison.

rclone's Drive backend has no setting for Google's address. It goes through the emulator's CONNECT proxy
(`tunnel`) and trusts its certificate by `--ca-cert`; the token address is a setting of rclone's.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from tests.google.process import EmulatorProcess


class Listed(NamedTuple):
    """Wall time in seconds (the program's start included), HTTP requests to the API, files and folders."""

    seconds: float
    requests: int
    entries: int


def installed() -> bool:
    return shutil.which("rclone") is not None


def list_with_rclone(drive: EmulatorProcess, folder_id: str | None = None) -> Listed:
    """Lists all below a folder (the generated tree's unless given) with rclone's own defaults.

    Raises:
        subprocess.CalledProcessError: rclone failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "rclone.conf"
        config.write_text(_config(drive.addresses, folder_id))
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "HTTPS_PROXY": drive.addresses["proxy"]}
        command = ["rclone", "--config", config, "--ca-cert", drive.addresses["authority"], "lsf", "-R", "tree:"]
        drive.reset()
        start = perf_counter()
        run = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=600)
        seconds = perf_counter() - start
        return Listed(seconds, int(drive.counts()["requests"]), run.stdout.count(b"\n"))


def _config(addresses: Mapping[str, Any], folder_id: str | None) -> str:
    token = {
        "access_token": addresses["access_token"],
        "token_type": "Bearer",
        "refresh_token": addresses["refresh_token"],
        "expiry": "2999-01-01T00:00:00Z",
    }
    lines = {
        "type": "drive",
        "scope": "drive.readonly",
        "client_id": addresses["client_id"],
        "client_secret": addresses["client_secret"],
        "token_url": addresses["token_uri"],
        "token": json.dumps(token),
    }
    if addresses["drive_id"] and not folder_id:
        lines["team_drive"] = addresses["drive_id"]
    else:
        lines["root_folder_id"] = folder_id or addresses["folder_id"]
    return "[tree]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items())
