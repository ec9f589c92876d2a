"""The interface of a source of facts about companies, the sources by name, and those that the settings select.

Every other module here is one source. To add one, write a module here with a function `open_source()` and add it to
`SOURCES`.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Final, Protocol

from tasks.companies.claims import SourceClaims
from tasks.companies.profile import CompanySettings
from tasks.errors import NotConfigured
from tasks.plugins import load_plugin, plugins


class FactSource(Protocol):
    """A source of facts about companies. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Its name in `DILIGENCE_FACT_SOURCES`."""

    @property
    def origin(self) -> str | None:
        """The network address that is asked, under which answers are stored; None for a source on this machine."""

    def facts(self, domain: str) -> SourceClaims | None:
        """What the source knows about the company with that registrable domain; None if it answered and knows nothing.

        Raises:
            BadRequest: `domain` is no registrable domain.
            tasks.errors.DiligenceError: the source could not be asked, or sent an invalid answer.
        """

    def domains(self, name: str) -> Sequence[str]:  # noqa: ARG002 - of those that have no names
        """The domains of companies with exactly that name, in any case; empty if the source has no names.

        Raises:
            tasks.errors.DiligenceError: the source could not be asked.
        """
        return []


SOURCES: Final[dict[str, str]] = {
    "profile_api": "tasks.companies.sources.profile_api",
    "files": "tasks.companies.sources.files",
    "wikidata": "tasks.companies.sources.wikidata",
    "sec": "tasks.companies.sources.sec",
    "gleif": "tasks.companies.sources.gleif",
    "website": "tasks.companies.sources.website",
}
"""Each source's module, by the name that `DILIGENCE_FACT_SOURCES` has for it.

A module is imported when its source is opened: `files` alone, as in the demo, starts 0.2 s sooner than all of them.
"""


def choose_sources() -> Sequence[FactSource]:
    """The sources that `DILIGENCE_FACT_SOURCES` names, in order of precedence.

    If it is not set, the default ones, preceded by `profile_api` if there is a key for it.

    Raises:
        NotConfigured: a name is unknown, or there is none; the message lists the known ones.
    """
    settings = CompanySettings.current()
    names = settings.fact_sources
    if settings.profile_api_key and "fact_sources" not in settings.model_fields_set:
        names = ("profile_api", *names)
    known = _known()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotConfigured(
            f"DILIGENCE_FACT_SOURCES names {', '.join(unknown)}, which is not a source of "
            f"facts. Choose from {', '.join(known)}."
        )
    if not names:
        raise NotConfigured(
            f"No source of facts is configured. Set DILIGENCE_FACT_SOURCES to one or more of {', '.join(known)}."
        )
    return [open_source(name) for name in names]


def open_source(name: str) -> FactSource:
    """The source of that name, from `SOURCES` or from another package, with the settings in force.

    Raises:
        NotConfigured: it is another package's, and cannot be loaded.
    """
    module = import_module(SOURCES[name]) if name in SOURCES else load_plugin(name, _known()[name])
    if module is None:
        raise NotConfigured(
            f"The source of facts {name} cannot be loaded from {_known()[name]}. Fix or remove its package, or take "
            "its name out of DILIGENCE_FACT_SOURCES."
        )
    source: FactSource = module.open_source()
    return source


def _known() -> dict[str, str]:
    return plugins("diligence.fact_sources") | SOURCES
