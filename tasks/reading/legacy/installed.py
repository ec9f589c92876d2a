"""Whether LibreOffice is installed; asked without loading what converts documents."""

import os
import sys
from pathlib import Path
from shutil import which

from tasks.child_process import only_absolute


def program(library: str) -> Path | None:
    """The LibreOffice on the path that has this part; None where there is none."""
    path = only_absolute(os.environ.get("PATH", os.defpath))
    found = which("soffice", path=path) or which("libreoffice", path=path)
    if found is None:
        return None
    start = Path(found).resolve()
    binary = start.with_name("soffice.bin")  # which the script `soffice` starts by way of a splash screen
    if not binary.exists():
        return start if sys.platform == "darwin" else None
    return binary if (start.parent / library).exists() else None
