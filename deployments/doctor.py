"""`diligence doctor`: what is configured, what answers, what is missing."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Final, cast

import typer
from pydantic import ValidationError
from sqlalchemy import text

from api.auth import load_keys
from api.settings import ApiSettings
from deployments.failures import wrong_settings
from deployments.terminal import echo
from storage import database
from storage.errors import DatabaseUnavailable
from tasks.ai.openai.answers import Capabilities
from tasks.ai.openai.errors import Option
from tasks.ai.openai.protocols import RequestFormat
from tasks.ai.registry import current_answerer
from tasks.companies.profile import CompanySettings
from tasks.companies.sources import choose_sources
from tasks.documents.drive.drive import CheckResult, SessionCheck
from tasks.documents.drive.registry import choose_drive, load_provider
from tasks.errors import DiligenceError, NotConfigured
from tasks.ranking.embedders import embedder
from tasks.reading import formats, libreoffice
from tasks.reading.configuration import ReadingSettings, engines
from tasks.reading.image import Picture
from tasks.reading.ocr import rapidocr, tesseract
from tasks.reading.ocr.rapidocr import RapidOcr
from tasks.remote.prefect_pools import Pool, read_prefect_state
from tasks.scoring.judge import try_model
from tasks.spending.budget import cap_and_price, make_question_ledger
from tasks.spending.money import Usage, dollars

_CLOCKS_APART: Final = 30.0
"""Seconds: Prefect takes a worker for silent after 90, and times of runs are compared across machines."""
_FEW_LEFT: Final = 20
"""Connections: a service takes some 15 for each of its processes, a run 10 for each of its own."""


def check_shared_database() -> Iterator[CheckResult]:
    """Whether machines can share the database, it has room, and only this release uses it."""
    database.check()
    with database.reading() as session:
        connection = session.connection()
        if connection.dialect.name == "sqlite":
            raise NotConfigured(
                "The database is SQLite, which only one machine can use. Set DILIGENCE_DATABASE_URL to a "
                "PostgreSQL database."
            )
        query = (
            "SELECT current_setting('server_version'), now(), current_setting('max_connections')::int, "
            "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), pg_is_in_recovery()"
        )
        server, its_now, most, used, is_replica = connection.execute(text(query)).one()
    state = f"PostgreSQL {server.split()[0]}, schema up to date, {used} of {most} connections in use"
    yield CheckResult("database", f"{state}; it is a replica: use the primary" if is_replica else state, is_replica)
    if most - used < _FEW_LEFT:
        advice = "raise max_connections, or put a pooler in session mode in front of it"
        yield CheckResult("connections", f"only {most - used} are left: {advice}", failed=True)
    yield _clock("database", (its_now - datetime.now(UTC)).total_seconds())
    ours = f"diligence {version('diligence')}"
    for one in database.connected():
        state = f"{one.program} on {one.machine}, {one.connections} connections"
        is_other = one.program.startswith("diligence") and one.program != ours
        yield CheckResult("connected", f"{state}; this is {ours}: update one of them" if is_other else state, is_other)


def check_prefect() -> Iterator[CheckResult]:
    """Whether Prefect's server is of the expected release, and each pool has live workers."""
    address = os.environ.get("PREFECT_API_URL")
    if not address:
        raise NotConfigured("PREFECT_API_URL names no server, so no worker can be known.")
    state = read_prefect_state(address)
    ours = version("prefect")
    is_other = state.version.split(".")[:2] != ours.split(".")[:2]
    told = f"release {state.version}"
    yield CheckResult("prefect", f"{told}, and {ours} here: update one of them" if is_other else told, is_other)
    yield _clock("prefect", state.seconds_ahead)
    if state.late_runs:
        yield CheckResult("runs", f"{state.late_runs} are late: no worker has started them", failed=True)
    if not state.pools:
        yield CheckResult("pool", "there is none: `diligence deploy` creates one", failed=True)
    for pool in state.pools:
        yield from _check_pool(pool)


def _check_pool(pool: Pool) -> Iterator[CheckResult]:
    for hindrance in pool.hindrances:
        yield CheckResult("pool", hindrance, failed=True)
    if online := [worker for worker in pool.workers if worker.is_online]:
        yield CheckResult("pool", f"{pool.name} ({pool.kind}): {len(online)} of {len(pool.workers)} workers live")
    elif not pool.hindrances:
        yield CheckResult("pool", f"{pool.name} ({pool.kind}): starts runs without a worker")
    for worker in pool.workers:
        seen = f"{(datetime.now(UTC) - worker.seen_at).total_seconds():,.0f} s ago" if worker.seen_at else "never"
        yield CheckResult("worker", f"{worker.name}, seen {seen}", tried=worker.is_online)


def _clock(whose: str, seconds: float) -> CheckResult:
    if abs(seconds) < _CLOCKS_APART:
        return CheckResult("clock", f"that of {whose} agrees with this machine's")
    way = "ahead of" if seconds > 0 else "behind"
    apart = f"that of {whose} is {abs(seconds):,.0f} s {way} this machine's: set both by NTP"
    return CheckResult("clock", apart, failed=True)


def doctor(
    drive_check: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Test the drive on this folder instead, and print counts and times only: a text to send to support, "
            "without names, ids or addresses.",
        ),
    ] = None,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Test the model on thirty cases with known answers instead, and say what it is suitable for. This "
            "costs about thirty calls.",
        ),
    ] = False,
    cluster: Annotated[
        bool,
        typer.Option(
            "--cluster",
            help="Check what several machines share instead: database, Prefect, its pools and workers, clocks.",
        ),
    ] = False,
) -> None:
    """Check what is configured, what responds and what is missing.

    ✓ was tried and works, ✗ was tried and does not, · is configured or left out and was not tried.
    """
    checks = _CHECKS
    if cluster:
        checks = cluster_checks()
    elif model:
        checks = {"model": _model}
    elif drive_check is not None:
        checks = {"drive": lambda: _drive_session(drive_check)}
    has_failed = False
    for subject, check in checks.items():
        for result in _results(subject, check):
            has_failed = has_failed or result.failed
            echo(f"{result.mark} {result.subject:<12} {result.state}")
    raise SystemExit(1 if has_failed else 0)


def _results(subject: str, check: Callable[[], Iterator[CheckResult]]) -> Iterator[CheckResult]:
    try:
        yield from check()
    except (DiligenceError, DatabaseUnavailable) as error:
        yield CheckResult(subject, str(error), failed=True)
    except ValidationError as error:
        yield CheckResult(subject, " ".join(wrong_settings(error)), failed=True)


def _home() -> Iterator[CheckResult]:
    folder = database.home()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield CheckResult("home", f"DILIGENCE_HOME cannot be written ({error.strerror}).", failed=True)
        return
    free = shutil.disk_usage(folder).free // 1024**3
    yield CheckResult("home", f"{folder}, {free} GB free")


def _database() -> Iterator[CheckResult]:
    database.check()
    with database.reading() as session:
        kind = session.connection().dialect.name
    yield CheckResult("database", f"{kind}, schema up to date, read and written")


def _drive_session(folder: str) -> Iterator[CheckResult]:
    description = choose_drive()
    if description.session_check is None:
        raise NotConfigured(
            f"{description.title} has no sessions to try out. Set DILIGENCE_DRIVE=google to try those of Google Drive."
        )
    yield from cast("SessionCheck", import_module(description.session_check)).check_folder(folder)


def _scans() -> Iterator[CheckResult]:
    settings = ReadingSettings.current()
    if settings.ocr == "off":
        yield CheckResult("scans", "not read: DILIGENCE_OCR is off", tried=False)
        return
    found = engines(settings)
    if found is None:
        yield CheckResult(
            "scans", f"not read: {_missing_engine(settings)}", failed=settings.ocr_engine != "auto", tried=False
        )
        return
    installed = tesseract.find_tesseract()
    by = [f"Tesseract {installed.version} in {found.tesseract}"] if installed and found.tesseract else []
    if found.rapidocr:
        try:
            RapidOcr().words(Picture(64, 64, bytes([255]) * 64 * 64))
        except DiligenceError as error:
            yield CheckResult("scans", error.message, failed=True)
            return
        by.append(f"RapidOCR {version(rapidocr.NAME)}")
    state = f"read by {' and '.join(by)}"
    _, missing = tesseract.split_languages(settings.ocr_languages)
    if missing and installed and "ocr_languages" in settings.model_fields_set and settings.ocr_engine != "rapidocr":
        packages = ", ".join(tesseract.package_name(language) for language in missing)
        yield CheckResult("scans", f"{state}; {', '.join(missing)} is missing (package {packages}).", failed=True)
    elif settings.ocr_engine == "auto" and not found.rapidocr:
        yield CheckResult("scans", f"{state}; {_missing_engine(settings)}")
    else:
        yield CheckResult("scans", state)


def _missing_engine(settings: ReadingSettings) -> str:
    """What to install so that scans are read."""
    package = rapidocr.missing()
    if package and settings.ocr_engine != "tesseract":
        return f"RapidOCR is not installed (the package {package} is missing: install diligence's requirements again)"
    return f"Tesseract is not installed, or not its languages (package {tesseract.PACKAGE})"


def _old_documents() -> Iterator[CheckResult]:
    if unread := _unconverted(libreoffice.CONVERSIONS):
        state = "{} are not read: LibreOffice is not installed (package {})".format(*unread)
    else:
        state = "read through LibreOffice, which is installed; none was converted here"
    yield CheckResult("old documents", state, tried=False)
    if less := _unconverted(libreoffice.BETTER):
        state = "of {}, only part is read: LibreOffice is not installed (package {})".format(*less)
        yield CheckResult("documents with LibreOffice", state, tried=False)


def _unconverted(conversions: Iterable[libreoffice.Conversion]) -> tuple[str, str] | None:
    """The endings of those documents whose part of LibreOffice is missing, and its packages."""
    missing = [one for one in conversions if formats.program(one.library) is None]
    endings = ", ".join(one.extension for one in missing)
    return (endings, ", ".join(dict.fromkeys(one.package for one in missing))) if missing else None


def _answerer() -> Iterator[CheckResult]:
    answerer = current_answerer()
    if answerer.model is None:
        yield CheckResult("answerer", "extractive; DILIGENCE_AI_MODEL names a model for judgements", tried=False)
        return
    answer = answerer.answer("Answer with the word yes.", [])
    yield CheckResult("answerer", f"{answerer.name} answers ({answer.usage.input_tokens} input tokens)")
    from tasks.ai.openai.answerer import OpenAiAnswerer  # noqa: PLC0415 - 0.7 s, which only a model needs

    asked = answerer.inner or answerer
    if isinstance(asked, OpenAiAnswerer):
        asked.prepare()
        yield from _abilities(asked.capabilities)


def _abilities(found: Capabilities) -> Iterator[CheckResult]:
    """What is known about an AI server, from its own words, the first small question and all answers since."""
    if not found.known:
        yield CheckResult("schema", "the server was not asked what it is able to do: DILIGENCE_AI_PROBE", tried=False)
        return
    loose = "".join(f"; ignored in {known.value}" for known in RequestFormat if known in found.loose)
    kept = f"kept in {found.keeps.value}" if found.keeps else "not followed: its answers may not be JSON"
    yield CheckResult("schema", f"{kept}{loose}", failed=found.keeps is None)
    refused = [words for option, words in _PARTS.items() if option in found.refused]
    yield CheckResult("requests", f"taken without {', '.join(refused)}" if refused else "taken with all their parts")
    yield CheckResult("tokens", "counted" if found.counts else "missing or wrong: tokens are estimated, rounding up")
    window = f"{found.window:,} tokens" if found.window else "not stated; learned when a prompt is too long"
    yield CheckResult("context", window + (", to which longer prompts are cut" if found.truncates else ""))
    slots = (
        f"{found.slots} at a time" if found.slots else "number of parallel requests not stated; learned while running"
    )
    yield CheckResult("calls", slots)
    read, written = (f"{speed:,.0f}" if speed else "an unknown number of" for speed in (found.reading, found.writing))
    yield CheckResult("speed", f"reads {read} and writes {written} tokens a second")
    if len(found.servers) > 1:
        yield CheckResult("models", "two models respond at this address: give each its own", failed=True)


_PARTS = {
    Option.SYSTEM_ROLE: "a system role",
    Option.STREAM: "streams",
    Option.STREAM_USAGE: "counts in streams",
    Option.TEMPERATURE: "a temperature",
    Option.SEED: "a seed",
    Option.BOUNDS: "bounds in the schema",
    Option.COMPLETION_LIMIT: "the newer limit on an answer",
    Option.LIMIT: "a limit on an answer",
}


def _model() -> Iterator[CheckResult]:
    answerer = current_answerer()
    if not answerer.judges:
        raise NotConfigured("There is no model to try: DILIGENCE_AI_MODEL names one.")
    trial = try_model(answerer, make_question_ledger())
    price = cap_and_price()[1]
    usage = Usage(trial.calls, trial.input_tokens, trial.output_tokens)
    cost = dollars(price.of(usage)) if price else f"{usage.tokens:,} tokens, price unknown"
    yield CheckResult("model", f"{answerer.name}, {trial.cases} cases in {trial.seconds:.0f} s, {cost}")
    for subject, share, words in (
        ("JSON", trial.answered, "of its answers were judgements"),
        ("reasons", trial.reasons, "of its reasons relate to the question or its source"),
        ("quotations", trial.quotes, "of its quotations appear word for word in their source"),
        ("scores", trial.scores, "of its scores are within one step of the right one"),
        ("silence", trial.silent, "of the questions that the text does not answer were left unanswered"),
        ("orders", trial.orders, "of the cases with an order in the text were judged as if it were not there"),
    ):
        yield CheckResult(subject, f"{share:.0%} {words}" if share is not None else "it quoted nothing")
    yield CheckResult("use", trial.advice, failed=trial.is_weak)


def _embeddings() -> Iterator[CheckResult]:
    model = embedder()
    if model is None:
        yield CheckResult("ranking", "by words only, because DILIGENCE_EMBEDDINGS is off", tried=False)
        return
    dimensions = model.embed(["yes"]).shape[1]
    name = model.name.partition(" at ")[0]
    yield CheckResult("ranking", f"by words and by meaning: {name} answers ({dimensions} numbers per vector)")


def _facts() -> Iterator[CheckResult]:
    names = [source.name for source in choose_sources()]
    state = f"sources: {', '.join(names)}, none of them was called"
    silent = [name for name in ("wikidata", "sec", "gleif") if name in names]
    if silent and CompanySettings.current().contact is None:
        state += f"; without DILIGENCE_CONTACT these are not asked: {', '.join(silent)}"
    yield CheckResult("facts", state, tried=False)


def _prefect() -> Iterator[CheckResult]:
    address = os.environ.get("PREFECT_API_URL")
    if not address:
        yield CheckResult(
            "prefect", "each run starts its own server; PREFECT_API_URL names a permanent one", tried=False
        )
        return
    yield CheckResult("prefect", f"PREFECT_API_URL answers, release {read_prefect_state(address).version}")


def _service() -> Iterator[CheckResult]:
    configured, (has_any, stored) = len(ApiSettings.current().keys), load_keys()
    if configured or has_any:
        yield CheckResult("service", f"{configured + len(stored)} API keys", tried=False)
    else:
        yield CheckResult("service", "no API keys: it serves this machine only", tried=False)


def cluster_checks() -> dict[str, Callable[[], Iterator[CheckResult]]]:
    """What `--cluster` checks; the drive and the model are tried from this machine."""
    shared = {"database": check_shared_database, "prefect": check_prefect}
    return shared | {name: _CHECKS[name] for name in ("home", "drive", "answerer", "service")}


_CHECKS: dict[str, Callable[[], Iterator[CheckResult]]] = {
    "home": _home,
    "database": _database,
    "drive": lambda: load_provider(choose_drive()).examine(),
    "scans": _scans,
    "old documents": _old_documents,
    "answerer": _answerer,
    "ranking": _embeddings,
    "facts": _facts,
    "prefect": _prefect,
    "service": _service,
}
