"""The folder `evidence/` beside a report: a page for each place that the report cites; it opens from the file system.

What a page shows is what the run's account may see.
"""

import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import astuple, dataclass
from errno import ENOENT
from os import strerror
from pathlib import Path

from sqlmodel import Session

from storage.database import reading
from storage.runs import RunCompany, run_companies
from tasks.evidence.pictures import find_picture
from tasks.reports import company_pages
from tasks.reports.evidence_links import FOLDER, is_own_file
from tasks.reports.evidence_pages import EvidencePage, ShownPage, WaysOn, claims_of, filled, pages_of, render_page
from tasks.reports.models import CompanyReport, Report
from tasks.reports.originals import Original, originals_of
from tasks.reports.written_evidence import WrittenEvidence, hash_of, hashes_of


def write_evidence(report: Report, folder: Path) -> dict[str, str]:
    """Write the evidence of a report to `folder/evidence`. What is there and the same already is not written again.

    Gives the companies, by domain, whose pages could not all be written, each with the reason in words: of these none
    is left behind.

    Raises:
        OSError: the folder cannot be made.
    """
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    original = originals_of(report.run.id)
    earlier = WrittenEvidence(target)
    written: set[str] = set()
    unwritten: dict[str, str] = {}
    with reading() as session:
        rows = {company.domain: company for company in run_companies(session, report.run.id)}
        for number, company in enumerate(report.companies, 1):
            if company.domain not in rows:
                continue
            evidence = _CompanyEvidence.of(session, report, company, number, rows[company.domain], original)
            files = earlier.files(company.domain, evidence.shown)
            if files is not None:
                written |= files
                continue
            files = set()
            try:
                pages = evidence.write(session, target, earlier, files)
            except OSError as error:
                unwritten[company.domain] = error.strerror or type(error).__name__
                _remove(target, files - written)  # its pages lead to each other: all of them, or none
            else:
                written |= files
                earlier.note(company.domain, evidence.shown, pages)
    with suppress(OSError):  # the pages are there; the next report writes them again
        earlier.save({company.domain for company in report.companies if company.domain not in unwritten})
    _remove(target, {path.name for path in target.iterdir() if is_own_file(path.name)} - written)
    return unwritten


@dataclass(frozen=True, slots=True)
class _CompanyEvidence:
    """The evidence pages of a company, not yet filled.

    They do not name the run: the report that they lie beside does, and what stayed the same is not written anew.

    Attributes:
        company: the company.
        pages: its pages, each with where it leads.
        hashes: for each page a hash of all that it shows.
    """

    company: CompanyReport
    pages: list[tuple[EvidencePage, WaysOn]]
    hashes: list[str]

    @classmethod
    def of(
        cls,
        session: Session,
        report: Report,
        company: CompanyReport,
        number: int,
        row: RunCompany,
        original: Original,
    ) -> "_CompanyEvidence":
        """The pages of the company of a report, which is the `number`th in it (from 1)."""
        assert row.id is not None
        claims = claims_of(report.run, company, number, company_pages.pages_of(report))
        pages = pages_of(session, row.id, company.domain, claims)
        documents = {page.first.document.document_id: page.first.document.url for page in pages}
        addresses = {document_id: original(document_id, url) for document_id, url in documents.items()}
        names = [None, *(page.name for page in pages), None]
        ways = [
            WaysOn(previous, following, addresses[page.first.document.document_id])
            for page, previous, following in zip(pages, names, names[2:], strict=False)
        ]
        shown = hashes_of(session, pages, [[company.name, *astuple(way)] for way in ways])
        return cls(company, list(zip(pages, ways, strict=True)), shown)

    @property
    def shown(self) -> str:
        """A hash of all that they show."""
        return hash_of(self.hashes)

    def write(
        self, session: Session, target: Path, earlier: WrittenEvidence, files: set[str]
    ) -> dict[str, tuple[str, set[str]]]:
        """Write the pages that are not there or show something else by now.

        The names of files that are there then, or were begun, go into `files`. Gives for each page, by its name, the
        hash of what it shows and its files.
        """
        pages: dict[str, tuple[str, set[str]]] = {}
        new: list[tuple[EvidencePage, WaysOn, set[str]]] = []
        for (page, ways), shown in zip(self.pages, self.hashes, strict=True):
            of_page = earlier.files_of_page(self.company.domain, page.name, shown)
            if of_page is None:
                of_page = {f"{page.name}.html"}
                new.append((page, ways, of_page))
            files |= of_page
            pages[page.name] = shown, of_page
        for page, (_, ways, of_page) in zip(filled(session, [page for page, _, _ in new]), new, strict=True):
            for picture in page.shown:
                if picture.picture is not None:
                    of_page.add(picture.picture)
                    if picture.picture not in files:
                        files.add(picture.picture)
                        _copy_picture(page.first.document.content_hash or "", picture, target)
            content = render_page(None, self.company.name, page, ways).encode()
            replace_file(target / f"{page.name}.html", target / f"{page.name}.html.part", content)
        return pages


def _remove(folder: Path, names: Collection[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def _copy_picture(content_hash: str, shown: ShownPage, folder: Path) -> None:
    assert shown.picture is not None
    target = folder / shown.picture
    source = find_picture(content_hash, shown.page)
    if source is None:  # it was taken away since the page was filled
        raise FileNotFoundError(ENOENT, strerror(ENOENT))
    if not target.exists() or target.stat().st_size != source.stat().st_size:
        shutil.copyfile(source, target)


def replace_file(target: Path, half: Path, content: bytes) -> None:
    """Write a file in one step, by way of the file `half`; what is there and the same already is not written again.

    Raises:
        OSError: it cannot be written; nothing of it is left behind.
    """
    if target.exists() and target.read_bytes() == content:
        return
    try:
        half.write_bytes(content)
        half.replace(target)
    except OSError:
        half.unlink(missing_ok=True)
        raise
