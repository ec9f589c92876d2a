"""Which evidence pages lie in a report's folder already: those of a company of which nothing changed stay."""

import hashlib
import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

from sqlmodel import Session

from storage import database
from storage.evidence import find_span_pages
from tasks.code_version import code_version
from tasks.evidence.pictures import find_picture
from tasks.reports.evidence_pages import EvidencePage

_FOLDER: Final = "reports"
"""In the home, with a file for each folder that a report was written to."""


class WrittenEvidence:
    """The pages that a folder holds, by company: its files with their sizes, and a hash of what they show."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        self._file = database.home() / _FOLDER / f"{name}.json"
        self._companies: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError):  # none was written to that folder
            stored = json.loads(self._file.read_bytes())
            self._companies = stored if isinstance(stored, dict) else {}

    def files(self, domain: str, shown: str) -> set[str] | None:
        """The names of a company's files, where they show just that and are all there; else None."""
        written = self._companies.get(domain, {})
        if written.get("shown") != shown:
            return None
        files: dict[str, int] = written["files"]
        return set(files) if all(self._size(name) == size for name, size in files.items()) else None

    def note(self, domain: str, shown: str, names: Collection[str]) -> None:
        """Note what was written for a company."""
        self._companies[domain] = {"shown": shown, "files": {name: self._size(name) for name in sorted(names)}}

    def save(self, domains: Collection[str]) -> None:
        """Keep what is known of these companies.

        Raises:
            OSError: it cannot be written; all pages are then written anew the next time.
        """
        kept = {domain: written for domain, written in sorted(self._companies.items()) if domain in domains}
        self._file.parent.mkdir(mode=0o700, exist_ok=True)
        half = self._file.with_suffix(f".{os.getpid()}.part")
        half.write_text(json.dumps(kept), encoding="utf-8")
        half.replace(self._file)

    def _size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except OSError:
            return None


def hash_of(session: Session, pages: Sequence[EvidencePage], words: Sequence[object]) -> str:
    """A hash of all that the evidence pages of a company show; `words` is what stands on them besides their places."""
    known = find_span_pages(session, sorted({citation.text_id for page in pages for citation in page.citations}))
    rest: list[object] = [code_version("tasks.evidence", "tasks.reports"), *words]
    for page in pages:
        rest.append([page.name, [astuple(claim) for claim in page.claims]])
        for citation in page.citations:
            document = citation.document
            span = citation.text_id, citation.start, citation.end
            rest.append([document.document_id, document.name, document.path, document.content_hash, *span])
            rest.append([citation.place, citation.criterion_id])
            drawn = known.get(span, ())
            rest.append([drawn, [str(find_picture(document.content_hash or "", each["page"])) for each in drawn]])
    return hashlib.sha256(json.dumps(rest, default=str).encode(errors="surrogatepass")).hexdigest()
