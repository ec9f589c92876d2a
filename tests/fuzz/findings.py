"""Where findings are kept: small files, each with a line of the README beside them, each a test."""

import hashlib
from pathlib import Path
from typing import Final

from tests.fuzz.verdict import Verdict

FOLDER: Final = Path(__file__).parent / "findings"
_LARGEST: Final = 50_000


def kept() -> list[Path]:
    """The files of the findings."""
    if not FOLDER.is_dir():
        return []
    return sorted(path for path in FOLDER.iterdir() if path.is_file() and path.suffix != ".md")


def keep(data: bytes, extension: str, verdict: Verdict, folder: Path = FOLDER) -> str:
    """Keep a finding; gives the line that was written of it. Too large a file is described and not kept."""
    folder.mkdir(exist_ok=True)
    name = f"{extension[1:]}-{hashlib.sha256(verdict.kind.encode() + extension.encode()).hexdigest()[:8]}{extension}"
    size = f" ({len(data):,} bytes, too large to keep)" if len(data) > _LARGEST else ""
    line = f"- `{name}`: {verdict.outcome} {verdict.where}{size}".rstrip()
    if not size:
        (folder / name).write_bytes(data)
    with (folder / "README.md").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return line
