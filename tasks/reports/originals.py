"""Where the documents themselves are opened from a page on the disk: their drive's own address, or the local file."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import TypeVar

from storage import database
from storage.runs import get_run
from storage.settings import override_settings
from tasks.documents.drive.registry import configured_drive, open_run_drive
from tasks.errors import DiligenceError, NotFound
from tasks.reports.models import (
    CompanyReport,
    ContradictingQuote,
    CriterionReport,
    DocumentReport,
    NearestDocument,
    ReportedContradiction,
    ReportedQuote,
)
from tasks.reports.wording import weblink

Linked = TypeVar("Linked", ContradictingQuote, NearestDocument, DocumentReport)
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


def with_originals(company: CompanyReport, original: Original) -> CompanyReport:
    """The same company with the addresses that `original` gives as each `document_url`, "" where it gives none.

    Only what holds an address is made anew: to copy all of the report takes as long as to write it.
    """
    original = cache(original)  # a document is cited more than once

    def linked(entry: Linked) -> Linked:
        return entry.model_copy(update={"document_url": original(entry.document_id, entry.document_url) or ""})

    def quoted(quote: ReportedQuote) -> ReportedQuote:
        if quote.document_id is None:
            return quote
        return quote.model_copy(update={"document_url": original(quote.document_id, quote.document_url)})

    def contradicting(contradiction: ReportedContradiction) -> ReportedContradiction:
        return contradiction.model_copy(update={"quotes": tuple(linked(side) for side in contradiction.quotes)})

    def criterion_with(criterion: CriterionReport) -> CriterionReport:
        return criterion.model_copy(
            update={
                "quotes": [quoted(quote) for quote in criterion.quotes],
                "contradictions": [contradicting(each) for each in criterion.contradictions],
                "nearest": [linked(near) for near in criterion.nearest],
            }
        )

    return company.model_copy(
        update={
            "criteria": [criterion_with(criterion) for criterion in company.criteria],
            "documents": [linked(document) for document in company.documents],
        }
    )
