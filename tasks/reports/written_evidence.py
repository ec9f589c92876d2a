"""Which evidence pages lie in a report's folder already: those that show the same stay as they are."""

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sqlmodel import Session

from storage import database
from storage.texts import find_span_pages
from tasks.code_version import code_version
from tasks.evidence.pictures import find_picture
from tasks.reports.evidence_pages import EvidencePage, WaysOn

_FOLDER: Final = "reports"
"""In the home, with a file for each folder that a report was written to."""


class WrittenEvidence:
    """The pages that a folder holds: by the page's name its files with their sizes, and a hash of what they show."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        self._file = database.home() / _FOLDER / f"{name}.json"
        self._pages: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError):  # none was written to that folder
            stored = json.loads(self._file.read_bytes())
            self._pages = stored if isinstance(stored, dict) else {}

    def files(self, page: str, shown: str) -> set[str] | None:
        """The names of a page's files, where they show just that and are all there; else None."""
        written = self._pages.get(page, {})
        if written.get("shown") != shown:
            return None
        files: dict[str, int] = written["files"]
        return set(files) if all(self._size(name) == size for name, size in files.items()) else None

    def note(self, page: str, shown: str, names: Collection[str]) -> None:
        """Note what was written for a page."""
        self._pages[page] = {"shown": shown, "files": {name: self._size(name) for name in sorted(names)}}

    def save(self, pages: Collection[str]) -> None:
        """Keep what is known of these pages.

        Raises:
            OSError: it cannot be written; all pages are then written anew the next time.
        """
        kept = {page: written for page, written in sorted(self._pages.items()) if page in pages}
        self._file.parent.mkdir(mode=0o700, exist_ok=True)
        half = self._file.with_suffix(".part")  # always the same: what a killed run left is written over
        try:
            half.write_text(json.dumps(kept), encoding="utf-8")
            half.replace(self._file)
        except OSError:
            half.unlink(missing_ok=True)
            raise

    def _size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except OSError:
            return None


def hashes_of(session: Session, pages: Iterable[tuple[EvidencePage, WaysOn]], company: str) -> Iterator[str]:
    """For each of a company's evidence pages a hash of all that it shows."""
    pages = list(pages)
    known = find_span_pages(session, sorted({citation.text_id for page, _ in pages for citation in page.citations}))
    version = code_version("tasks.evidence", "tasks.reports")
    for page, ways in pages:
        rest: list[object] = [version, company, ways, page.claims]
        for citation in page.citations:
            document = citation.document
            span = citation.text_id, citation.start, citation.end
            rest.append([document.document_id, document.name, document.path, document.content_hash, *span])
            rest.append([citation.place, citation.criterion_id])
            drawn = known.get(span, ())
            rest.append([drawn, [str(find_picture(document.content_hash or "", each["page"])) for each in drawn]])
        yield hashlib.sha256(json.dumps(rest, default=str).encode(errors="surrogatepass")).hexdigest()
