"""Which evidence pages lie in a report's folder already: those that would say the same stay."""

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
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
    """The pages that a folder holds, by company and page: their files, with sizes, and hashes of what they show."""

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
        return self._all_there(domain, written.get("files", ())) if written.get("shown") == shown else None

    def files_of_page(self, domain: str, page: str, shown: str) -> set[str] | None:
        """The same of one page of a company, by its name: the page itself and its pictures."""
        hashed, names = self._companies.get(domain, {}).get("pages", {}).get(page, (None, ()))
        return self._all_there(domain, names) if hashed == shown else None

    def note(self, domain: str, shown: str, pages: Mapping[str, tuple[str, Collection[str]]]) -> None:
        """Note what was written for a company; `pages` has for each the hash of what it shows, and its files."""
        names = sorted({name for _, of_page in pages.values() for name in of_page})
        self._companies[domain] = {
            "shown": shown,
            "files": {name: self._size(name) for name in names},
            "pages": {page: (hashed, sorted(of_page)) for page, (hashed, of_page) in pages.items()},
        }

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

    def _all_there(self, domain: str, names: Iterable[str]) -> set[str] | None:
        sizes: dict[str, int] = self._companies[domain]["files"]
        found = {name for name in names if self._size(name) == sizes[name]}
        return found if len(found) == len(set(names)) else None

    def _size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except OSError:
            return None


def hashes_of(session: Session, pages: Sequence[EvidencePage], words: Sequence[Sequence[object]]) -> list[str]:
    """A hash of all that each of a company's pages shows; `words` are what stands on each besides its places."""
    known = find_span_pages(session, sorted({citation.text_id for page in pages for citation in page.citations}))
    program = code_version("tasks.evidence", "tasks.reports")
    hashes = []
    for page, own in zip(pages, words, strict=True):
        rest: list[object] = [program, *own, page.name, [astuple(claim) for claim in page.claims]]
        for citation in page.citations:
            document = citation.document
            span = citation.text_id, citation.start, citation.end
            rest.append([document.document_id, document.name, document.path, document.content_hash, *span])
            rest.append([citation.place, citation.criterion_id])
            drawn = known.get(span, ())
            rest.append([drawn, [str(find_picture(document.content_hash or "", each["page"])) for each in drawn]])
        hashes.append(hash_of(rest))
    return hashes


def hash_of(shown: object) -> str:
    """A hash of what can be written as JSON, in hex."""
    return hashlib.sha256(json.dumps(shown, default=str).encode(errors="surrogatepass")).hexdigest()
