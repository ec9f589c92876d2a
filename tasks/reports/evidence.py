"""The folder `evidence/` beside a report: a page for each place that the report cites, opened from the file system.

Pages show what the run's account may see.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from errno import ENOENT
from os import strerror
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlmodel import Session

from storage import database
from storage.database import reading
from storage.runs import run_companies
from storage.texts import find_span_pages
from tasks.code_version import code_version
from tasks.evidence.drawing import find_picture
from tasks.reports.evidence_links import FOLDER, is_own_file
from tasks.reports.evidence_pages import (
    CitedFor,
    EvidencePage,
    WaysOn,
    fill_pages,
    find_originals,
    list_pages,
    render_page,
    with_ways,
)
from tasks.reports.replacing import replace_file

_FOLDER: Final = "reports"
"""In the home, with a file for each folder that a report was written to."""


class WrittenEvidence:
    """The pages in a folder: for each page its files with their sizes, and a hash of what they show."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        self._file = database.home() / _FOLDER / f"{name}.json"
        self._pages: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError):  # none was written to that folder
            stored = json.loads(self._file.read_bytes())
            self._pages = stored if isinstance(stored, dict) else {}

    def files(self, page: str, shown: str) -> set[str] | None:
        """The names of a page's files if they show exactly that and all exist; otherwise None."""
        written = self._pages.get(page, {})
        if written.get("shown") != shown:
            return None
        files: dict[str, int] = written["files"]
        return set(files) if all(self._size(name) == size for name, size in files.items()) else None

    def note(self, page: str, shown: str, names: Collection[str]) -> None:
        """Record what was written for a page."""
        self._pages[page] = {"shown": shown, "files": {name: self._size(name) for name in sorted(names)}}

    def save(self, pages: Collection[str]) -> None:
        """Save the records of these pages.

        Raises:
            OSError: it cannot be written; all pages are then written anew the next time.
        """
        kept = {page: written for page, written in sorted(self._pages.items()) if page in pages}
        self._file.parent.mkdir(mode=0o700, exist_ok=True)
        replace_file(self._file, self._file.with_suffix(".part"), json.dumps(kept).encode())

    def _size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except OSError:
            return None


def hash_pages(session: Session, pages: Iterable[tuple[EvidencePage, WaysOn]], company: str) -> Iterator[str]:
    """For each of a company's evidence pages, a hash of everything that it shows."""
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


class CitingCompany(NamedTuple):
    """A company of a report in the form that its evidence pages need: its name, and its criteria by id."""

    name: str
    domain: str
    claims: Mapping[str, CitedFor]


def write_evidence(run: str, companies: Sequence[CitingCompany], folder: Path) -> dict[str, str]:
    """Write the evidence of a report to `folder/evidence`. Pages that exist unchanged are not written again.

    Returns the companies, by domain, whose pages could not all be written, each with the reason in words; none of their
    pages is left behind.

    Raises:
        OSError: the folder cannot be made.
    """
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    original = find_originals(run)
    earlier = WrittenEvidence(target)
    kept: set[str] = set()
    written: set[str] = set()
    unwritten: dict[str, str] = {}
    with reading() as session:
        rows = {company.domain: company.id for company in run_companies(session, run)}
        for company in companies:
            company_id = rows.get(company.domain)
            if company_id is None:
                continue
            pages = list_pages(session, company_id, company.domain, company.claims)
            files: set[str] = set()
            try:
                _write_pages(session, company.name, with_ways(pages, original), target, earlier, files)
            except OSError as error:
                unwritten[company.domain] = error.strerror or type(error).__name__
                _remove(target, files - written)  # its pages lead to each other: all of them, or none
            else:
                written |= files
                kept.update(page.name for page in pages)
    with suppress(OSError):  # the pages are there; the next report writes them again
        earlier.save(kept)
    _remove(target, _own_files(target) - written)
    return unwritten


def remove_evidence(folder: Path) -> None:
    """Delete the evidence that was written beside a report; other files stay."""
    _remove(folder / FOLDER, _own_files(folder / FOLDER))


def _own_files(target: Path) -> set[str]:
    return {path.name for path in target.iterdir() if is_own_file(path.name)}


def _write_pages(
    session: Session,
    company: str,
    pages: Sequence[tuple[EvidencePage, WaysOn]],
    target: Path,
    earlier: WrittenEvidence,
    files: set[str],
) -> None:
    """Write those pages of a company that do not exist yet; the names of all their files, even begun ones, go into
    `files`.

    Raises:
        OSError: one cannot be written.
    """
    changed: dict[str, str] = {}
    for (page, _), shown in zip(pages, hash_pages(session, pages, company), strict=True):
        its_files = earlier.files(page.name, shown)
        if its_files is None:
            changed[page.name] = shown
        else:
            files |= its_files
    ways = {page.name: ways for page, ways in pages}
    for page in fill_pages(session, [page for page, _ in pages if page.name in changed]):
        pictures = {shown.picture: shown.page for shown in page.shown if shown.picture is not None}
        its_files = {f"{page.name}.html", *pictures}
        files |= its_files
        for picture, number in pictures.items():
            _put_picture(page.first.document.content_hash or "", number, target / picture)
        content = render_page(company, page, ways[page.name]).encode()
        replace_file(target / f"{page.name}.html", target / f"{page.name}.html.part", content)
        earlier.note(page.name, changed[page.name], its_files)


def _remove(folder: Path, names: Collection[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def _put_picture(content_hash: str, page: int, target: Path) -> None:
    """Link a picture of the home beside the report: the same file, which takes no time and no space again."""
    source = find_picture(content_hash, page)
    if source is None:  # it was taken away since the page was filled
        raise FileNotFoundError(ENOENT, strerror(ENOENT))
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # the folder is on another disk, or on one without links
        shutil.copyfile(source, target)
