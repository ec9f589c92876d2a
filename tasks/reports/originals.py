"""Where the documents themselves are opened from a page on the disk: their drive's own address, or the local file."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from storage import database
from storage.runs import get_run
from storage.settings import override_settings
from tasks.documents.drive.registry import configured_drive, open_run_drive
from tasks.errors import DiligenceError, NotFound
from tasks.reports.models import Report
from tasks.reports.wording import weblink

Original = Callable[[str, str | None], str | None]
"""Gives the address of a document by its id and its `document_url`; None where there is nothing to open."""


def originals_of(run_id: str) -> Original:
    """Where the documents of a run are opened, whatever root it was made under.

    A local file is linked as such: the service, whose address `document_url` is, may not be running. One that is gone
    has no link.
    """
    with database.reading() as session:
        drive = get_run(session, run_id).drive
    return _as_the_drive_shows_them if _shows_its_documents(drive) else _local_files(drive)


def _shows_its_documents(drive: Mapping[str, str] | None) -> bool:
    with override_settings(drive or {}):
        return configured_drive().accounts is not None


def _as_the_drive_shows_them(_document_id: str, url: str | None) -> str | None:
    return weblink(url)


def _local_files(settings: Mapping[str, str] | None) -> Original:
    with override_settings(settings or {}), suppress(DiligenceError):
        drive = open_run_drive()

        def address(document_id: str, url: str | None) -> str | None:
            try:
                path = drive.local_path(document_id)
            except NotFound:
                return None
            return path.as_uri() if path else weblink(url)

        return address
    return lambda _document_id, _url: None  # the root is there no more


def with_originals(report: Report, original: Original) -> Report:
    """The same report with the addresses that `original` gives as each `document_url`, "" where it gives none."""
    local = report.model_copy(deep=True)
    for company in local.companies:
        for criterion in company.criteria:
            for quote in criterion.quotes:
                if quote.document_id is not None:
                    quote.document_url = original(quote.document_id, quote.document_url)
            for contradiction in criterion.contradictions:
                for side in contradiction.quotes:
                    side.document_url = original(side.document_id, side.document_url) or ""
            for near in criterion.nearest:
                near.document_url = original(near.document_id, near.document_url) or ""
        for document in company.documents:
            document.document_url = original(document.document_id, document.document_url) or ""
    return local
