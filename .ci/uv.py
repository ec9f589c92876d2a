"""Run uv with the package index that pip is configured for: uv reads neither pip's files nor its environment.

    python .ci/uv.py pip install -r requirements.lock

Nothing of it is printed: an index's address can hold a password.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

# https://pip.pypa.io/en/stable/cli/pip_install/ and https://docs.astral.sh/uv/reference/environment/
_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}
_SECTIONS = ("global.", "install.", ":env:.")  # the later one holds where several name a setting


def pip_settings() -> dict[str, str]:
    """What pip is configured for, under the names that uv reads; several values are separated by spaces."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    settings = {}
    for section in _SECTIONS:
        for line in listed:
            name, _, value = line.partition("=")
            uv_name = _NAMES.get(name.removeprefix(section)) if name.startswith(section) else None
            if uv_name:
                settings[uv_name] = " ".join(ast.literal_eval(value).split())
    if "UV_FIND_LINKS" in settings:
        settings["UV_FIND_LINKS"] = settings["UV_FIND_LINKS"].replace(" ", ",")
    # pip takes the best version of all indexes. The locks' hashes make that as safe as the first index alone.
    return settings | {"UV_INDEX_STRATEGY": "unsafe-best-match"}


if __name__ == "__main__":
    environment = {**pip_settings(), **os.environ, "VIRTUAL_ENV": sys.prefix}  # what is set for uv itself holds
    uv = Path(sys.prefix) / "bin" / "uv"
    os.execve(uv, [str(uv), *sys.argv[1:]], environment)  # noqa: S606 - no shell is needed
