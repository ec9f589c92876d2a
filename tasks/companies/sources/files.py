"""Facts from files beside the batch: one company profile each, `<folder>/<domain>.json`.

The profile may also be under a key `profile`, as in answers of Get Company Facts. Fields may be left out. A field that
the profile does not know is ignored with a warning; a value of the wrong type is an error, so that a typo does not
become a missing fact.
"""

import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import idna
from pydantic_core import from_json

from tasks.companies.claims import CLAIMABLE, Claim, SourceClaims
from tasks.companies.profile import (
    CompanyProfile,
    CompanySettings,
    field_type,
    find_mistakes,
    registrable,
    remove_value,
    value_at,
)
from tasks.errors import BadRequest, NotConfigured, SourceFailed
from tasks.language.normalise import same_name

log = logging.getLogger(__name__)

_MAX_BYTES: Final = 16 * 1024 * 1024
"""Of a file; a full profile has some 100 KB."""
_SETTLED: Final = 50_000_000
"""Nanoseconds after which another change differs from the one before in its time: a tick lasts 10 ms at most."""


def open_source() -> "FileSource":
    """The source as configured by `DILIGENCE_FACTS`."""
    folder = CompanySettings.current().facts
    return FileSource(folder or Path("facts"), required=folder is not None)


class FileSource:
    """Facts from the profiles in a folder. A missing folder is only an error if it is `required`."""

    name = "files"
    origin = None

    def __init__(self, folder: Path, *, required: bool = True) -> None:
        self._folder = folder
        self._required = required

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims in the company's file, as of its `last_updated`; None if the file is missing or empty.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotConfigured: the folder is missing.
            SourceFailed: the file cannot be read, or is no Company profile.
        """
        domain = registrable(domain)
        if not self._has_folder():
            return None
        for name in dict.fromkeys((domain, _with_unicode(domain))):
            path = self._folder / f"{name}.json"
            state = _state(path)
            claims = _read_file(path) if state is None else _read_state(path, state)
            if claims is not None:
                return claims if claims.claims or claims.warnings else None
        return None

    def domains(self, name: str) -> Sequence[str]:
        """The domains whose files give the company that name. Files that cannot be read are skipped.

        Raises:
            NotConfigured: the folder is missing.
            SourceFailed: the folder cannot be read.
        """
        if not self._has_folder():
            return []
        try:
            paths = sorted(path for path in self._folder.iterdir() if path.suffix == ".json")
        except OSError as error:
            raise SourceFailed(f"The folder of DILIGENCE_FACTS cannot be read ({error.strerror}).") from error
        domains: list[str] = []
        for path in paths:
            try:
                domain, content = registrable(path.stem), _read(path)
            except (BadRequest, SourceFailed) as error:
                log.warning("facts file %r skipped: %s", path.name, error)
                continue
            if content is not None and content[0].name is not None and same_name(name, content[0].name):
                domains.append(domain)
        return list(dict.fromkeys(domains))

    def _has_folder(self) -> bool:
        if self._folder.is_dir():
            return True
        if self._required:
            raise NotConfigured(
                "The folder of the source files does not exist. Set DILIGENCE_FACTS (`facts` in a batch file) to the "
                "folder that holds one <domain>.json a company."
            )
        return False


_State: TypeAlias = tuple[int, int, int, int]


def _state(path: Path) -> _State | None:
    """What changes along with a file's content; None if there is no file, or it changed just now and may again."""
    try:
        status = path.stat()
    except OSError:
        return None
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < _SETTLED:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@lru_cache(maxsize=256)
def _read_state(path: Path, _state: _State) -> SourceClaims | None:
    """What the file says in this state; the same object as long as the file is unchanged."""
    return _read_file(path)


def _read_file(path: Path) -> SourceClaims | None:
    content = _read(path)
    return None if content is None else SourceClaims(_claims(content[0]), content[1])


@lru_cache(maxsize=1024)
def _with_unicode(domain: str) -> str:
    """The domain with its international letters, since a file may be called müller.example.json."""
    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _read(path: Path) -> tuple[CompanyProfile, list[str]] | None:
    """The profile in a file, with a warning for each field that profiles do not have; None if there is no file."""
    try:
        if not path.exists():
            return None
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            raise SourceFailed(f"The facts file {path.name} is not a file of at most {_MAX_BYTES // 1024**2} MB.")
        content = from_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
    except OSError as error:
        raise SourceFailed(f"The facts file {path.name} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise SourceFailed(f"The facts file {path.name} is not valid JSON: {error}.") from error
    if isinstance(content, dict) and isinstance(content.get("profile"), dict):
        content = content["profile"]
    if not isinstance(content, dict):
        raise SourceFailed(f"The facts file {path.name} must hold an object, a Company profile.")
    return _validate(content, path.name)


def _validate(content: dict[str, Any], name: str) -> tuple[CompanyProfile, list[str]]:
    warnings: list[str] = []
    wrong: dict[str, str] = {}
    for location, mistake in find_mistakes(content).items():
        path = ".".join(map(str, location))
        if mistake["type"] != "extra_forbidden":
            wrong[path] = mistake["msg"]
            continue
        remove_value(content, location)
        try:
            field_type(path)
        except BadRequest as unknown:
            warnings.append(f"The facts file {name} was read without one field. {unknown}")
    if wrong:
        listed = "; ".join(f"{path} {_rule(message)}" for path, message in list(wrong.items())[:5])
        more = f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise SourceFailed(f"The facts file {name} is not a Company profile: {listed}{more}.")
    return CompanyProfile.model_validate(content), warnings


def _rule(message: str) -> str:
    return message.removeprefix("Input ").removeprefix("Value error, ").replace("valid dictionary", "object")


def _claims(profile: CompanyProfile) -> list[Claim]:
    retrieved_at = datetime.now(UTC).replace(microsecond=0)
    values = profile.model_dump()
    return [
        Claim(field=path, value=value, source="files", retrieved_at=retrieved_at, as_of=profile.last_updated)
        for path in CLAIMABLE
        if (value := value_at(values, path)) is not None
    ]
