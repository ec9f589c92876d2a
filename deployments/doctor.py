"""`diligence doctor`: what is configured, what answers, what is missing."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from urllib.error import URLError
from urllib.request import urlopen

from pydantic import ValidationError

from storage import database
from tasks.documents.drive.description import CheckResult
from tasks.documents.drive.registry import configured_drive, provider_of
from tasks.errors import DiligenceError


def examine() -> int:
    """Print what was found; gives 1 when something that is configured does not work."""
    troubled = False
    for name, check in _CHECKS.items():
        try:
            results = list(check())
        except (DiligenceError, database.DatabaseUnavailable) as error:
            results = [CheckResult(name, str(error), failed=True)]
        except ValidationError as error:
            wrong = [f"DILIGENCE_{str(each['loc'][0]).upper()}: {each['msg']}" for each in error.errors()]
            results = [CheckResult(name, "; ".join(wrong), failed=True)]
        for result in results:
            troubled = troubled or result.failed
            print(f"{'✗' if result.failed else '✓'} {result.subject:<12} {result.state}")  # noqa: T201 - the result
    return 1 if troubled else 0


def _home() -> Iterator[CheckResult]:
    folder = database.home()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield CheckResult("home", f"DILIGENCE_HOME cannot be written ({error.strerror}).", failed=True)
        return
    free = shutil.disk_usage(folder).free // 1024**3
    yield CheckResult("home", f"{folder}, {free} GB free", failed=False)


def _database() -> Iterator[CheckResult]:
    with database.reading() as session:
        kind = session.connection().dialect.name
    yield CheckResult("database", f"{kind}, schema up to date")


def _drive() -> Iterator[CheckResult]:
    yield from provider_of(configured_drive()).examine()


def _scans() -> Iterator[CheckResult]:
    from tasks.documents.extract.ocr import tesseract  # noqa: PLC0415
    from tasks.documents.settings import DocumentSettings  # noqa: PLC0415

    settings = DocumentSettings.current()
    if settings.ocr == "off":
        yield CheckResult("scans", "not read: DILIGENCE_OCR is off")
        return
    found = tesseract.installed()
    if found is None:
        yield CheckResult("scans", f"not read: Tesseract is not installed (package {tesseract.PACKAGE})")
        return
    reading, missing = tesseract.languages_of(settings.ocr_languages)
    state = f"read in {'+'.join(reading) or 'no language'} by Tesseract {found.version}"
    if missing:
        packages = ", ".join(tesseract.package_of(language) for language in missing)
        yield CheckResult("scans", f"{state}; {', '.join(missing)} is missing (package {packages}).", failed=True)
    else:
        yield CheckResult("scans", f"{state}, which has {', '.join(found.languages)}")


def _answerer() -> Iterator[CheckResult]:
    from tasks.ai.registry import current_answerer  # noqa: PLC0415

    answerer = current_answerer()
    if answerer.model is None:
        yield CheckResult("answerer", "extractive; DILIGENCE_AI_MODEL names a model for judgements")
        return
    answer = answerer.answer("Answer with the word yes.", [])
    yield CheckResult("answerer", f"{answerer.name} answers ({answer.usage.input_tokens} tokens asked)")


def _embeddings() -> Iterator[CheckResult]:
    from tasks.ranking.semantic import embedder  # noqa: PLC0415

    chosen = embedder()
    if chosen is None:
        yield CheckResult("ranking", "by words; DILIGENCE_EMBEDDINGS adds an embedding model")
        return
    size = chosen.embed(["yes"]).shape[1]
    model = chosen.name.partition(" at ")[0]
    yield CheckResult("ranking", f"by words and by meaning: {model} answers ({size} numbers a vector)")


def _facts() -> Iterator[CheckResult]:
    from tasks.companies.sources.registry import configured_sources  # noqa: PLC0415

    yield CheckResult("facts", f"sources: {', '.join(source.name for source in configured_sources())}")


def _prefect() -> Iterator[CheckResult]:
    address = os.environ.get("PREFECT_API_URL")
    if not address:
        yield CheckResult("prefect", "a server of its own for each run; PREFECT_API_URL names one that stays")
        return
    try:
        with urlopen(f"{address.rstrip('/')}/health", timeout=5) as answer:  # noqa: S310 - the user's own setting
            yield CheckResult("prefect", f"PREFECT_API_URL answers ({answer.status})")
    except (URLError, OSError, ValueError):
        yield CheckResult("prefect", "PREFECT_API_URL does not answer: is the server running?", failed=True)


def _service() -> Iterator[CheckResult]:
    from api.settings import ApiSettings  # noqa: PLC0415

    keys = len(ApiSettings.current().keys)
    yield CheckResult("service", f"{keys} API keys" if keys else "no DILIGENCE_API_KEYS: it serves this machine only")


_CHECKS: dict[str, Callable[[], Iterator[CheckResult]]] = {
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
