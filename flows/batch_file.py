"""The batch that a user writes: a YAML file, or a CSV with the columns name, domain, folder."""

import csv
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from storage.settings import RoomSettings
from tasks.ai.settings import AiSettings
from tasks.companies.domain import registrable
from tasks.companies.settings import CompanySettings
from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest
from tasks.scoring.criteria import Criteria, read_criteria
from tasks.user_file import UserFile

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Value = str | int | float | bool

_ROOMS: tuple[type[RoomSettings], ...] = (DocumentSettings, CompanySettings, AiSettings)
_PATHS = {"facts", "drive_root", "google_credentials"}  # settings that name a place beside the batch file
_SECRET = {"openai_api_key"}  # kept out of files that are passed around


@dataclass(frozen=True, slots=True)
class Company:
    """A company of a batch: its name, its registrable domain, the folder of its data room."""

    name: str
    domain: str
    folder: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is ready to run. `settings` rule while it runs (`storage.settings.given`)."""

    name: str
    criteria: Criteria
    companies: Sequence[Company]
    settings: dict[str, Value]

    def fingerprint(self, answerer: str) -> str:
        """The same while the batch asks for the same of the same answerer, in hex."""
        companies = [(each.name, each.domain, each.folder) for each in self.companies]
        asked = [self.criteria.fingerprint(), answerer, companies]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


class _Company(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Text
    domain: Text
    folder: Text


class _File(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    name: Text
    criteria: Text
    companies: list[dict[str, Any]]


def read_batch(path: Path, criteria: Path | None = None) -> Batch:
    """Read a batch file.

    Args:
        path: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV, and taken before the one that a YAML file names.

    Raises:
        BadRequest: what is wrong in the files, each mistake with file, line, field and what is allowed.
    """
    if path.suffix.lower() == ".csv":
        return _from_csv(path, criteria)
    file = UserFile(path, "batch file")
    written = file.fit(_File, file.content if file.content is not None else {})
    file.check()
    assert written is not None
    settings = _settings(file, written.model_extra or {})
    companies: list[Company] = []
    if not written.companies:
        file.mistake(("companies",), "it is empty: list at least one company with name, domain and folder")
    for index, each in enumerate(written.companies):
        at = ("companies", index)
        company = file.fit(_Company, each, at)
        if company is not None:
            _add(companies, company, lambda field, what, at=at: file.mistake((*at, field), what))
    file.check()
    return Batch(
        written.name,
        read_criteria(criteria or path.parent / written.criteria),
        companies,
        _with_facts(settings, path.parent),
    )


def _from_csv(path: Path, criteria: Path | None) -> Batch:
    if criteria is None:
        raise BadRequest(f"{path.name} is a CSV: name its criteria file with --criteria FILE.")
    mistakes: list[str] = []
    companies: list[Company] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            columns = [(name or "").strip().lower() for name in rows.fieldnames or []]
            if set(columns) != {"name", "domain", "folder"} or len(columns) != 3:
                raise BadRequest(f"{path.name}, line 1: the columns must be name, domain, folder.")
            rows.fieldnames = columns
            for row in rows:
                line = rows.line_num
                try:
                    company = _Company.model_validate({key: row[key] or "" for key in columns})
                except ValidationError:
                    mistakes.append(f"{path.name}, line {line}: name, domain and folder must all be filled in.")
                    continue
                _add(
                    companies,
                    company,
                    lambda field, what, line=line: mistakes.append(f"{path.name}, line {line}, {field}: {what}."),
                )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadRequest(f"{path}: the batch file cannot be read as CSV in UTF-8. Is the path right?") from error
    if not companies and not mistakes:
        mistakes.append(f"{path.name}: it holds no company.")
    if mistakes:
        raise BadRequest("\n".join(mistakes))
    return Batch(path.stem, read_criteria(criteria), companies, _with_facts({}, path.parent))


def _add(companies: list[Company], company: _Company, mistake: Any) -> None:
    """Take a company into the list, its domain in plain form and once only."""
    try:
        domain = registrable(company.domain)
    except BadRequest as error:
        mistake("domain", error.message)
        return
    other = next((each for each in companies if each.domain == domain), None)
    if other is not None:
        mistake("domain", f"{domain} is the domain of {other.name} already; a batch holds each company once")
        return
    companies.append(Company(company.name, domain, company.folder))


def _settings(file: UserFile, extra: dict[str, Any]) -> dict[str, Value]:
    """The settings that stand in a batch file, checked as in the environment."""
    allowed = {name: room for room in _ROOMS for name in room.model_fields if name not in _SECRET}
    given: dict[str, Value] = {}
    for name, value in extra.items():
        if name not in allowed:
            known = ", ".join(["name", "criteria", "companies", *sorted(allowed)])
            file.mistake((name,), f"there is no such field or setting (allowed: {known})")
        elif isinstance(value, list):
            given[name] = ",".join(map(str, value))
        elif isinstance(value, Value):
            given[name] = str(file.path.parent.absolute() / str(value)) if name in _PATHS else value
        else:
            file.mistake((name,), "a setting is one value or a list of values")
    for room in _ROOMS:
        try:
            cast("Any", room)(**{name: value for name, value in given.items() if name in room.model_fields})
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                file.mistake(each["loc"], each["msg"])
    file.check()
    return given


def _with_facts(settings: dict[str, Value], beside: Path) -> dict[str, Value]:
    """The source `files` looks in `facts` beside the batch, when nothing else is said and it is there."""
    folder = beside.absolute() / "facts"
    if "facts" not in settings and not os.environ.get("DILIGENCE_FACTS") and folder.is_dir():
        return settings | {"facts": str(folder)}
    return settings
