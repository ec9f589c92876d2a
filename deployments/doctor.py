"""`diligence doctor`: what is configured, what answers, what is missing."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import urlopen

from pydantic import ValidationError

from storage import database
from tasks.errors import DiligenceError, NotConfigured


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's: `trouble` is what to do where something configured does not work."""

    what: str
    state: str
    trouble: bool = False


def examine() -> int:
    """Print what was found; gives 1 when something that is configured does not work."""
    troubled = False
    for name, check in _CHECKS.items():
        try:
            findings = list(check())
        except (DiligenceError, database.DatabaseUnavailable) as error:
            findings = [Finding(name, str(error), trouble=True)]
        except ValidationError as error:
            wrong = [f"DILIGENCE_{str(each['loc'][0]).upper()}: {each['msg']}" for each in error.errors()]
            findings = [Finding(name, "; ".join(wrong), trouble=True)]
        for finding in findings:
            troubled = troubled or finding.trouble
            print(f"{'✗' if finding.trouble else '✓'} {finding.what:<12} {finding.state}")  # noqa: T201 - the result
    return 1 if troubled else 0


def _home() -> Iterator[Finding]:
    folder = database.home()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield Finding("home", f"DILIGENCE_HOME cannot be written ({error.strerror}).", trouble=True)
        return
    free = shutil.disk_usage(folder).free // 1024**3
    yield Finding("home", f"{folder}, {free} GB free", trouble=False)


def _database() -> Iterator[Finding]:
    with database.reading() as session:
        kind = session.connection().dialect.name
    yield Finding("database", f"{kind}, schema up to date")


def _drive() -> Iterator[Finding]:
    from tasks.documents.drive.drive import open_drive  # noqa: PLC0415
    from tasks.documents.settings import DocumentSettings  # noqa: PLC0415

    settings = DocumentSettings.current()
    if settings.drive == "google":
        yield from _google()
        return
    listing = open_drive().list_folder("root", recursive=False)
    inside = f"{len(listing.documents)} files at its root"
    yield Finding("drive", f"{settings.drive}, {settings.drive_root.absolute()}: {inside}")


def _google() -> Iterator[Finding]:
    """Whose view runs and the command line have, and whether users can log in."""
    from storage import logins  # noqa: PLC0415
    from tasks.documents.drive.google.credentials import (  # noqa: PLC0415
        account_of,
        credentials_of,
        oauth_client,
    )
    from tasks.documents.drive.identity import Service, own  # noqa: PLC0415
    from tasks.documents.settings import DocumentSettings  # noqa: PLC0415

    try:
        who = own()
        source = "DILIGENCE_GOOGLE_CREDENTIALS" if isinstance(who, Service) else "`diligence login`"
        yield Finding("drive", f"google, runs act as {account_of(credentials_of(who)).email} ({source})")
    except DiligenceError as error:
        yield Finding("drive", f"google: {error.message}", trouble=True)
    try:
        oauth_client()
        logins.seal("", "trial")
    except NotConfigured as error:
        yield Finding("logins", f"none at /login: {error.message}")
    except logins.SecretKeyUnusable as error:
        yield Finding("logins", str(error), trouble=True)
    else:
        yield Finding("logins", f"come back to {DocumentSettings.current().base_url.rstrip('/')}/login/callback")


def _scans() -> Iterator[Finding]:
    from tasks.documents.extract.ocr import tesseract  # noqa: PLC0415
    from tasks.documents.settings import DocumentSettings  # noqa: PLC0415

    settings = DocumentSettings.current()
    if settings.ocr == "off":
        yield Finding("scans", "not read: DILIGENCE_OCR is off")
        return
    found = tesseract.installed()
    if found is None:
        yield Finding("scans", f"not read: Tesseract is not installed (package {tesseract.PACKAGE})")
        return
    reading, missing = tesseract.languages_of(settings.ocr_languages)
    state = f"read in {'+'.join(reading) or 'no language'} by Tesseract {found.version}"
    if missing:
        packages = ", ".join(tesseract.package_of(language) for language in missing)
        yield Finding("scans", f"{state}; {', '.join(missing)} is missing (package {packages}).", trouble=True)
    else:
        yield Finding("scans", f"{state}, which has {', '.join(found.languages)}")


def _answerer() -> Iterator[Finding]:
    from tasks.ai.answerer import current  # noqa: PLC0415

    answerer = current()
    if answerer.model is None:
        yield Finding("answerer", "extractive; DILIGENCE_AI_MODEL names a model for judgements")
        return
    answer = answerer.answer("Answer with the word yes.", [])
    yield Finding("answerer", f"{answerer.name} answers ({answer.usage.input_tokens} tokens asked)")


def _embeddings() -> Iterator[Finding]:
    from tasks.ranking.semantic import embedder  # noqa: PLC0415

    chosen = embedder()
    if chosen is None:
        yield Finding("ranking", "by words; DILIGENCE_EMBEDDINGS adds an embedding model")
        return
    size = chosen.embed(["yes"]).shape[1]
    model = chosen.name.partition(" at ")[0]
    yield Finding("ranking", f"by words and by meaning: {model} answers ({size} numbers a vector)")


def _facts() -> Iterator[Finding]:
    from tasks.companies.sources.registry import configured_sources  # noqa: PLC0415

    yield Finding("facts", f"sources: {', '.join(source.name for source in configured_sources())}")


def _prefect() -> Iterator[Finding]:
    address = os.environ.get("PREFECT_API_URL")
    if not address:
        yield Finding("prefect", "a server of its own for each run; PREFECT_API_URL names one that stays")
        return
    try:
        with urlopen(f"{address.rstrip('/')}/health", timeout=5) as answer:  # noqa: S310 - the user's own setting
            yield Finding("prefect", f"PREFECT_API_URL answers ({answer.status})")
    except (URLError, OSError, ValueError):
        yield Finding("prefect", "PREFECT_API_URL does not answer: is the server running?", trouble=True)


def _service() -> Iterator[Finding]:
    from api.settings import ApiSettings  # noqa: PLC0415

    keys = len(ApiSettings.current().keys)
    yield Finding("service", f"{keys} API keys" if keys else "no DILIGENCE_API_KEYS: it serves this machine only")


_CHECKS: dict[str, Callable[[], Iterator[Finding]]] = {
    "home": _home,
    "database": _database,
    "drive": _drive,
    "scans": _scans,
    "answerer": _answerer,
    "ranking": _embeddings,
    "facts": _facts,
    "prefect": _prefect,
    "service": _service,
}
