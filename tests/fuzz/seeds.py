"""The documents that are mutated: those of a folder, else the sample's, those of the tests, and what both lack."""

from pathlib import Path
from typing import Final

from tasks.reading.formats import list_supported
from tests.fuzz import rich, rich_texts

_ROOT: Final = Path(__file__).parents[2]
_FOLDERS: Final = (
    _ROOT / "deployments" / "sample" / "rooms",
    _ROOT / "tests" / "documents",
    Path(__file__).parent / "corpus",
)
_LARGEST: Final = 300_000
"""Bytes: larger documents are left out, they take long and hold nothing that smaller ones do not."""

_QUICK: Final = frozenset(list_supported()) - {".doc", ".ppt"}
"""Those that need no LibreOffice, which takes 1.5 s a document; the others are for `--formats doc,ppt`."""


class Seeds:
    """Documents by format. `formats` are the extensions of which there are any, in order."""

    def __init__(self, folder: Path | None = None, wanted: tuple[str, ...] = ()) -> None:
        folders = (folder,) if folder else _FOLDERS
        files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
        self.documents: dict[str, list[bytes]] = {}
        for file in files:
            if file.suffix in (wanted or _QUICK) and file.stat().st_size <= _LARGEST:
                self.documents.setdefault(file.suffix, []).append(file.read_bytes())
        if folder is None:
            for extension, documents in (rich.documents() | rich_texts.documents()).items():
                if extension in (wanted or _QUICK):
                    self.documents.setdefault(extension, []).extend(documents)
        self.formats = tuple(sorted(self.documents))
