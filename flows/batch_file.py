"""The batch file that a user writes (YAML, or CSV with the columns name, domain, folder), and its settings.

A YAML file may also contain settings of the run, in lower case and without the prefix; they override the environment
while the batch runs. It may not contain secrets, since batch files are passed around, nor say where things are stored,
which must be known before the file is read. Settings of the batch itself say how many companies are examined in
parallel, and in how many processes.
"""

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from storage.settings import Settings, StorageSettings, override_settings
from tasks.ai.answerer import AiSettings
from tasks.companies.profile import CompanySettings, registrable
from tasks.companies.sources import SOURCES, choose_sources
from tasks.documents.drive.drive import DocumentSettings, EvidenceSettings
from tasks.documents.drive.registry import DriveSettings, descriptions
from tasks.errors import BadRequest, NotConfigured
from tasks.figures.figure import FigureSettings, read_concepts, taxonomy
from tasks.privacy import PrivacySettings
from tasks.ranking.semantic import EmbeddingSettings
from tasks.reading.configuration import ReadingSettings
from tasks.requests.request_list import RequestList, read_requests
from tasks.scoring.criteria import Criteria, read_criteria
from tasks.spending.budget import SpendingSettings
from tasks.user_file import Line, Mistakes, UserFile, describe_error, nearest, read_user_text

_WITH_MODEL = 6
_MOST_WITH_MODEL = 10
_WITHOUT_MODEL = 2
_WORTH_A_PROCESS: Final = 8
"""Companies that take longer than a process takes to start, which is 4 s of work."""
_WORTH_A_HELPER: Final = 4
_MOST_HELPERS: Final = 8
_CALLS: Final = 96
"""Judgements that are ready or under way: a model that takes 16 at a time has enough for a few rounds."""


class BatchSettings(Settings):
    """The concurrency of a batch."""

    companies_at_once: int | None = Field(
        None,
        ge=1,
        le=32,
        description="companies of a batch examined at the same time; 2, with a model 6 to 10",
    )

    processes: int | None = Field(
        None,
        ge=1,
        le=64,
        description="processes of this machine that examine the companies of a batch; 1 with a model, else one for "
        "every two cores, if each has 8 companies, and 1 where little has changed",
    )
    helpers: int | None = Field(
        None,
        ge=0,
        le=64,
        description="runs on the work pool that help with a deployed batch after 20 s; one for every 4 companies that "
        "are left, 8 at most",
    )

    def processes_for(self, companies: int, *, judged: int, is_quick: bool) -> int:
        """How many processes of this machine to use for that many companies.

        Args:
            companies: those that are left.
            judged: the criteria that a model is asked about. A run waits for the model then, which one process keeps
                busy: more of them would ask it for more at once than the limit for one server allows.
            is_quick: whether a process takes longer to start than one takes for all that is left.
        """
        if self.processes is not None:
            return self.processes
        most = len(os.sched_getaffinity(0)) // 2  # one keeps two cores busy, with its readers
        return 1 if judged or is_quick else max(1, min(most, companies // _WORTH_A_PROCESS))

    def helpers_for(self, companies: int) -> int:
        """How many runs on the work pool are to help with that many companies."""
        return min(_MOST_HELPERS, companies // _WORTH_A_HELPER) if self.helpers is None else self.helpers

    def at_once(self, *, judged: int) -> int:
        """How many companies of a batch to examine at the same time.

        While a model judges one company, others are listed, read and drawn; the fewer judgements each needs, the more
        of them. Without a model the readers use all cores, and a second company keeps them busy while the first is
        scored.

        Args:
            judged: the criteria that a model is asked about; 0 without a model.
        """
        with_model = min(max(_WITH_MODEL, ceil(_CALLS / max(judged, 1))), _MOST_WITH_MODEL)
        return self.companies_at_once or (with_model if judged else _WITHOUT_MODEL)


Value = str | int | float | bool
UNASKED = frozenset({"ai_budget", "ai_prices", "companies_at_once", "processes", "helpers"})
"""What a run may cost and how fast it goes: no matter of what is asked."""

_AREAS: tuple[type[Settings], ...] = (
    BatchSettings,
    DocumentSettings,
    ReadingSettings,
    DriveSettings,
    CompanySettings,
    AiSettings,
    PrivacySettings,
    SpendingSettings,
    EmbeddingSettings,
    EvidenceSettings,
    FigureSettings,
)
_GUARDED = frozenset({"web_allow", "search_url", "profile_api_url", "openai_base_url", "embeddings_url"}) | {
    "ai_monthly_budget",
    "ai_privileged_model",
    "ai_pseudonyms",
}
"""Where a run's keys and texts go and which private networks it reaches: not a file's to say."""


class RunSettings:
    """All settings of a run by name, including those of every drive, and which of them a batch file may set.

    A file may not choose the account that a run acts as either: each drive says which of its settings do that.
    """

    def __init__(self) -> None:
        drives = descriptions()
        self.classes = (*_AREAS, *(drive.settings for drive in drives))
        fields = {name: field for settings in self.classes for name, field in settings.model_fields.items()}
        of_drives = {name for drive in drives for name in drive.settings.model_fields.keys() - drive.batch_settings}
        self.secret = {name for name, field in fields.items() if field.annotation in {SecretStr, SecretStr | None}}
        self.guarded = _GUARDED | of_drives | StorageSettings.model_fields.keys()
        self.allowed = sorted(fields.keys() - self.secret - self.guarded)
        self.paths = {name for name, field in fields.items() if field.annotation in {Path, Path | None}}


def read_settings(file: UserFile, written: Mapping[str, Any]) -> dict[str, Value]:
    """The settings in the form that `override_settings` takes; paths are relative to the file. Mistakes are recorded in
    `file`.
    """
    known = RunSettings()
    values: dict[str, Value] = {}
    for name, value in written.items():
        if name in known.secret:
            file.mistake(
                (name,), f"a secret must not be in a file; set it in the environment, as {variable_name(name)}"
            )
        elif name in known.guarded:
            file.mistake((name,), f"it is not a run's own setting; set it in the environment, as {variable_name(name)}")
        elif name not in known.allowed:
            names = ["name", "criteria", "companies", "requests", *known.allowed]
            file.mistake((name,), f"there is no such field or setting{nearest(str(name), names)}")
        elif name in known.paths:
            if isinstance(value, str) and value.strip():
                values[name] = str(file.path.parent.absolute() / value.strip())
            else:
                file.mistake((name,), "must be a path, which counts from this file")
        elif isinstance(value, list) and all(isinstance(item, Value) for item in value):
            values[name] = ",".join(map(str, value))
        elif isinstance(value, Value):
            values[name] = value
        else:
            file.mistake((name,), "must be one value or a list of values")
    return values if _check_settings(file, values, known.classes) else {}


def with_facts(settings: dict[str, Value], beside: Path) -> dict[str, Value]:
    """The settings, with the source `files` looking in the folder `facts` beside the batch if it exists and nothing
    else is set.
    """
    folder = beside.absolute() / "facts"
    if "facts" not in settings and not os.environ.get("DILIGENCE_FACTS") and folder.is_dir():
        return settings | {"facts": str(folder)}
    return settings


def _check_settings(file: UserFile, values: Mapping[str, Value], classes: Iterable[type[Settings]]) -> bool:
    """Whether the settings' classes accept these values; refusals are recorded, except those of the environment's
    values.
    """
    right = True
    for settings in classes:
        own = {name: value for name, value in values.items() if name in settings.model_fields}
        try:
            cast("Any", settings)(**own)
        except ValidationError as error:
            for mistake in error.errors(include_url=False, include_input=False):
                name = str(mistake["loc"][0]).lower() if mistake["loc"] else ""
                if name in own:
                    file.mistake((name,), describe_error(mistake))
                    right = False
    if right and "fact_sources" in values:
        try:
            with override_settings(values):
                choose_sources()
        except NotConfigured as error:
            nothing = f"must name one or more of {', '.join(SOURCES)}; leave the line out for the usual ones"
            file.mistake(("fact_sources",), error.message if values["fact_sources"] else nothing)
            right = False
    return right


def secrets() -> list[str]:
    """The names of the run's settings that are secrets."""
    return sorted(RunSettings().secret)


def secret_files() -> list[str]:
    """The names of the run's settings that point to files of secrets; a batch file may not set these paths."""
    known = RunSettings()
    return sorted((known.paths & known.guarded) - StorageSettings.model_fields.keys())


def variable_name(name: str) -> str:
    """The name of a setting's environment variable."""
    return name.upper() if name.startswith("openai_") else f"DILIGENCE_{name.upper()}"


_COLUMNS = ("name", "domain", "folder")


@dataclass(frozen=True, slots=True)
class BatchCompany:
    """A company of a batch: its name, registrable domain, and data room folder."""

    name: str
    domain: str
    folder: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is ready to run. `settings` are in force while it runs (`override_settings`).

    `part_of` names the batch whose criteria are used when one company is examined alone. `requests` is the list of what
    was asked for.
    """

    name: str
    criteria: Criteria
    companies: Sequence[BatchCompany]
    settings: dict[str, Value]
    part_of: str | None = None
    requests: RequestList | None = None

    @property
    def extent(self) -> str:
        """How much there is to do: `3 companies, 1 criterion`."""
        companies, criteria = len(self.companies), len(self.criteria.criteria)
        return (
            f"{companies} {'company' if companies == 1 else 'companies'}, "
            f"{criteria} {'criterion' if criteria == 1 else 'criteria'}"
        )

    def fingerprint(self, answerer: str) -> str:
        """A hash, in hex, of what is asked, of whom, and with which settings; a run is resumed only while it stays the
        same.

        Cost and speed limits do not count: a run that its budget stopped continues under a higher one. Nor does the
        place of the files, which differs between machines.
        """
        companies = [(company.name, company.domain, company.folder) for company in self.companies]
        unasked = UNASKED | RunSettings().paths
        settings = sorted((name, value) for name, value in self.settings.items() if name not in unasked)
        concepts = self.settings.get("figure_concepts")
        parts: list[Any] = [self.criteria.fingerprint(), answerer, companies, settings]
        if concepts is not None:
            parts.append(read_concepts(Path(str(concepts))))
        if self.requests is not None:  # the fingerprints of older batches stay the same
            parts.append(self.requests.model_dump())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class _Company(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Line
    domain: Line
    folder: Line


class _File(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    name: Line
    criteria: Line | None = None
    requests: Line | None = None
    companies: list[Any]


def read_batch(path: Path, criteria: Path | None = None) -> Batch:
    """Read a batch file.

    Args:
        path: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV, and taken before the one that a YAML file names.

    Raises:
        BadRequest: what is wrong in the files, each mistake with file, line, field and what is allowed.
    """
    return _from_csv(path, criteria) if path.suffix.lower() == ".csv" else _from_yaml(path, criteria)


def _from_yaml(path: Path, criteria: Path | None) -> Batch:
    file = UserFile(path, "batch file")
    written = file.fit(_File, file.content)
    content = file.content if isinstance(file.content, dict) else {}
    settings = read_settings(file, {name: value for name, value in content.items() if name not in _File.model_fields})
    companies = _Companies(file.mistakes)
    listed = content.get("companies")
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        at = ("companies", index)
        company = file.fit(_Company, entry, at)
        if company is not None:
            companies.add(company, file.line((*at, "domain")), f"companies.{index}.domain")
    if listed == []:
        file.mistake(("companies",), "it is empty: list at least one company with name, domain and folder")
    if criteria is None:
        criteria = _find_criteria_file(file, "criteria", content.get("criteria"))
    listed = _find_criteria_file(file, "requests", content["requests"]) if "requests" in content else None
    with override_settings(settings):
        read, requests = _check_criteria(file.mistakes, criteria, listed)
    assert written is not None
    return Batch(written.name, read, companies.listed, with_facts(settings, path.parent), requests=requests)


_FILES = {"criteria": "criteria file", "requests": "request list, a .xlsx, .csv or .yaml"}


def _find_criteria_file(file: UserFile, field: str, written: Any) -> Path | None:
    """The file that a field of the batch file names; None if it does not exist, with the mistake recorded."""
    if written is None:
        file.mistake((field,), f"it is missing: name the {_FILES[field]}")
    elif isinstance(written, str) and written.strip():
        path = file.path.parent / written.strip()
        if path.is_file():
            return path
        file.mistake((field,), f"there is no file {written.strip()} (the path counts from the batch file)")
    return None  # of another type: noted when the file was checked against its shape


def _from_csv(path: Path, criteria: Path | None) -> Batch:
    if criteria is None:
        raise BadRequest(f"{path.name} is a CSV: name its criteria file with --criteria FILE.")
    mistakes = Mistakes(path.name)
    companies = _Companies(mistakes)
    line = 1
    try:
        for line, columns, cells in _rows(path):
            if len(cells) != len(columns):
                what = f"it has {len(cells)} cells, not {len(columns)}; put text that contains a separator in quotes"
                mistakes.note(line, "the row", what)
                continue
            try:
                row = _Company.model_validate(dict(zip(columns, cells, strict=True)))
                companies.add(row, line, "domain")
            except ValidationError as error:
                for mistake in error.errors(include_url=False):
                    mistakes.note(line, str(mistake["loc"][0]), describe_error(mistake))
    except csv.Error as error:
        mistakes.note(line, "the file", f"the CSV is cut off below this line: {error}")
    if line == 1:
        mistakes.note(line, "the file", "it contains no companies: write one per line, below the columns")
    return Batch(path.stem, _check_criteria(mistakes, criteria)[0], companies.listed, with_facts({}, path.parent))


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str], Sequence[str]]]:
    """The rows of a CSV: line, columns, cells. Spreadsheets may also separate cells by semicolons or tabs."""
    text = read_user_text(path, "batch file")
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    columns = [column.strip().lower() for column in next(rows, [])]
    if sorted(columns) != sorted(_COLUMNS):
        present = ", ".join(column or "one without a name" for column in columns) or "none"
        raise BadRequest(f"{path.name}, line 1: the columns must be {', '.join(_COLUMNS)}. There are: {present}.")
    line = rows.line_num + 1
    for cells in rows:
        if any(cell.strip() for cell in cells):
            yield line, columns, cells
        line = rows.line_num + 1


class _Companies:
    """The companies of a batch in order, each with a normalised domain that occurs only once."""

    def __init__(self, mistakes: Mistakes) -> None:
        self.listed: list[BatchCompany] = []
        self._mistakes = mistakes
        self._first: dict[str, str] = {}

    def add(self, company: _Company, line: int, field: str) -> None:
        """Add the company with a domain in this line and field; a mistake in it is recorded."""
        try:
            domain = registrable(company.domain)
        except BadRequest as error:
            self._mistakes.note(line, field, error.fields.get("domain", error.message))
            return
        if domain in self._first:
            what = f"{domain} is the domain of {self._first[domain]} already; a batch holds each company once"
            self._mistakes.note(line, field, what)
            return
        self._first[domain] = f"{company.name} (line {line})"
        self.listed.append(BatchCompany(company.name, domain, company.folder))


def _check_criteria(
    mistakes: Mistakes, criteria: Path | None, listed: Path | None = None
) -> tuple[Criteria, RequestList | None]:
    """The criteria and the request list, if nothing is wrong: the mistakes in all files are reported together.

    Raises:
        BadRequest: what is wrong.
    """
    wrong: list[BadRequest] = []
    read: Criteria | None = None
    requests: RequestList | None = None
    try:
        mistakes.check()
    except BadRequest as error:
        wrong.append(error)
    try:
        taxonomy()  # a user's file of concepts is read with the rest, before anything runs
        read = read_criteria(criteria) if criteria is not None else None
    except BadRequest as error:
        wrong.append(error)
    try:
        requests = read_requests(listed) if listed is not None else None
    except BadRequest as error:
        wrong.append(error)
    if wrong or read is None:
        fields = {field: what for error in wrong for field, what in error.fields.items()}
        raise BadRequest("\n".join(error.message for error in wrong), fields)
    return read, requests
