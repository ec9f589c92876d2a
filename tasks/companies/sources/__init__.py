"""The FactSource seam: one file a source of facts.

Every module in this folder is a source. Its name is the name that `DILIGENCE_FACT_SOURCES` knows it
by, and its function `open_source()` gives the source with the settings in force. A new source is a
new file here (and its name in `tasks.companies.settings.KNOWN_SOURCES`).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from tasks.companies.profile import CompanyProfile, Extra
from tasks.companies.settings import KNOWN_SOURCES, CompanySettings
from tasks.errors import NotConfigured

log = logging.getLogger(__name__)

CLAIMABLE = (
    *(name for name in CompanyProfile.model_fields if name not in {"extra", "last_updated"}),
    *(f"extra.{name}" for name in Extra.model_fields),
)
"""The fields that a source can speak to: the profile's and those in `extra`, each as one value."""


class Claim(BaseModel):
    """One source's word on one field.

    `field` is one of `CLAIMABLE`, `value` as the profile has it (JSON, every key present, never null: a
    source that does not know claims nothing). `as_of` is the date that the source gives to its word,
    in ISO form and perhaps a year only.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)

    field: str
    value: Any
    source: str
    url: str | None = None
    retrieved_at: datetime
    as_of: str | None = None

    @model_validator(mode="after")
    def _fits_the_profile(self) -> Self:
        if self.field not in CLAIMABLE:
            raise ValueError(f"the profile has no field {self.field} to claim")
        if self.value is None:
            raise ValueError("a claim has a value")
        known = _shape(self.field)
        object.__setattr__(self, "value", known.dump_python(known.validate_python(self.value, strict=True)))
        return self


@cache
def _shape(field: str) -> TypeAdapter[Any]:
    group, _, name = field.rpartition(".")
    annotation: Any = (Extra if group else CompanyProfile).model_fields[name].annotation
    return TypeAdapter(annotation)


@dataclass(frozen=True)
class Finding:
    """What a source knows of a company. `warnings` are sentences for whoever reads the facts."""

    claims: Sequence[Claim]
    warnings: Sequence[str] = ()


class FactSource(Protocol):
    """A place that knows facts about companies. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The module's name."""

    @property
    def origin(self) -> str | None:
        """The address that is asked over a network, under which its word is remembered; None where nothing is."""

    def facts(self, domain: str) -> Finding | None:
        """What the source knows of the company with that registrable domain; None: it was reached and knows nothing.

        Raises:
            tasks.errors.DiligenceError: it could not be asked, or answered wrongly.
        """

    def domains(self, name: str) -> Sequence[str]:
        """The domains of the companies of exactly that name, whatever its case; none where it cannot tell.

        Raises:
            tasks.errors.DiligenceError: it could not be asked.
        """


def configured() -> Sequence[FactSource]:
    """The sources that `DILIGENCE_FACT_SOURCES` names, in order of precedence.

    Where it names none, those of the default, after `profile_api` when there is a key to it.

    Raises:
        NotConfigured: a name is unknown, or no source is named.
    """
    settings = CompanySettings.current()
    wanted = settings.fact_sources
    if settings.profile_api_key and "fact_sources" not in settings.model_fields_set:
        wanted = ("profile_api", *wanted)
    unknown = [name for name in wanted if name not in KNOWN_SOURCES]
    if unknown:
        raise NotConfigured(
            f"DILIGENCE_FACT_SOURCES names {', '.join(unknown)}, which is no source of facts. "
            f"It may name {', '.join(KNOWN_SOURCES)}."
        )
    built = {module.name for module in iter_modules(__path__)}
    absent = [name for name in wanted if name not in built]
    if absent:
        log.debug("sources of facts that this release does not have are left out: %s", ", ".join(absent))
    names = [name for name in wanted if name in built]
    if not names:
        choice = ", ".join(name for name in KNOWN_SOURCES if name in built)
        raise NotConfigured(f"No source of facts is configured. Set DILIGENCE_FACT_SOURCES to one or more of {choice}.")
    return [import_module(f"{__name__}.{name}").open_source() for name in names]
