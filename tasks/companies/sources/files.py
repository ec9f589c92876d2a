"""Facts from files that the team keeps beside its batch: `<folder>/<domain>.json`, a Company profile each.

The profile may also stand under a key `profile`, as the operation Get Company Facts answers. Fields
may be left out. A field that the profile does not have is left out with a warning, a value of a wrong
type is an error: a typo must not become a missing fact.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import idna
from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from tasks.companies.claims import CLAIMABLE, Claim, SourceClaims
from tasks.companies.domain import registrable
from tasks.companies.profile import CompanyProfile, field_type, value_at
from tasks.companies.settings import CompanySettings
from tasks.errors import BadRequest, NotConfigured, SourceFailed
from tasks.text.normalise import same_name

log = logging.getLogger(__name__)

_LARGEST = 16 * 1024 * 1024  # bytes; a full profile has some 100 KB


def open_source() -> "FileSource":
    """The source as `DILIGENCE_FACTS` has it."""
    folder = CompanySettings.current().facts
    return FileSource(folder or Path("facts"), required=folder is not None)


class FileSource:
    """Facts from the profiles in a folder. A folder that is not `required` may be missing: it knows nothing then."""

    name = "files"
    origin = None

    def __init__(self, folder: Path, *, required: bool = True) -> None:
        self._folder = folder
        self._required = required

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims of the company's file, as of its `last_updated`; None where there is no file, or an empty one.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotConfigured: the folder is missing.
            SourceFailed: the file cannot be read, or is no Company profile.
        """
        domain = registrable(domain)
        if not self._has_folder():
            return None
        for name in dict.fromkeys((domain, _readable(domain))):
            read = _read(self._folder / f"{name}.json")
            if read is not None:
                profile, warnings = read
                claims = _claims(profile)
                return SourceClaims(claims, warnings) if claims or warnings else None
        return None

    def domains(self, name: str) -> Sequence[str]:
        """The domains whose file gives the company that name. A file that cannot be read is passed over.

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
        found: dict[str, None] = {}
        for path in paths:
            try:
                domain, read = registrable(path.stem), _read(path)
            except (BadRequest, SourceFailed) as error:
                log.warning("facts file %r passed over: %s", path.name, error)
                continue
            if read is not None and read[0].name is not None and same_name(name, read[0].name):
                found[domain] = None
        return list(found)

    def _has_folder(self) -> bool:
        if self._folder.is_dir():
            return True
        if self._required:
            raise NotConfigured(
                "The folder of the source files does not exist. Set DILIGENCE_FACTS (`facts` in a batch file) to the "
                "folder that holds one <domain>.json a company."
            )
        return False


def _readable(domain: str) -> str:
    """The domain as people write it: a file may be called müller.example.json."""
    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _read(path: Path) -> tuple[CompanyProfile, list[str]] | None:
    """The profile in a file, with a warning for each field that it has and the profile does not."""
    try:
        if not path.exists():
            return None
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise SourceFailed(f"The facts file {path.name} is no file of at most {_LARGEST // 1024**2} MB.")
        found = from_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
    except OSError as error:
        raise SourceFailed(f"The facts file {path.name} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise SourceFailed(f"The facts file {path.name} is no JSON: {error}.") from error
    if isinstance(found, dict) and isinstance(found.get("profile"), dict):
        found = found["profile"]
    if not isinstance(found, dict):
        raise SourceFailed(f"The facts file {path.name} must hold an object, a Company profile.")
    return _validated(found, path.name)


def _validated(found: dict[str, Any], name: str) -> tuple[CompanyProfile, list[str]]:
    warnings: list[str] = []
    try:
        return CompanyProfile.model_validate(found), warnings
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
    surplus = [error for error in errors if error["type"] == "extra_forbidden"]
    for each in surplus:
        _drop(found, each["loc"])
        try:
            field_type(_path(each))
        except BadRequest as unknown:
            warnings.append(f"The facts file {name} was read without one field. {unknown}")
    wrong = {_path(error): error["msg"] for error in errors if error not in surplus}
    if wrong:
        told = "; ".join(f"{path} {_should(message)}" for path, message in list(wrong.items())[:5])
        more = f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise SourceFailed(f"The facts file {name} is no Company profile: {told}{more}.")
    return CompanyProfile.model_validate(found), warnings


def _path(error: ErrorDetails) -> str:
    """The dotted path of the field; a number's two types are steps of the validator, not of the profile."""
    return ".".join(str(step) for step in error["loc"] if step not in {"int", "float"})


def _should(message: str) -> str:
    return message.removeprefix("Input ").removeprefix("Value error, ").replace("valid dictionary", "object")


def _drop(found: Any, location: tuple[int | str, ...]) -> None:
    for step in location[:-1]:
        found = found[step]
    del found[location[-1]]


def _claims(profile: CompanyProfile) -> list[Claim]:
    retrieved_at = datetime.now(UTC).replace(microsecond=0)
    values = profile.model_dump()
    return [
        Claim(field=path, value=value, source="files", retrieved_at=retrieved_at, as_of=profile.last_updated)
        for path in CLAIMABLE
        if (value := value_at(values, path)) is not None
    ]
