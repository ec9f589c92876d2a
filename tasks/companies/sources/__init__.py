"""The interface of a source of facts about companies; each other module here but `registry` is one source.

A new source is a module here with a function `open_source()`, and its line in `registry.SOURCES`.
"""

from collections.abc import Sequence
from typing import Protocol

from tasks.companies.claims import Claim, SourceClaims

__all__ = ["Claim", "FactSource", "SourceClaims"]


class FactSource(Protocol):
    """A place that has facts about companies. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The name that `DILIGENCE_FACT_SOURCES` has for it."""

    @property
    def origin(self) -> str | None:
        """The address that is asked over a network, under which answers are stored; None for one on this machine."""

    def facts(self, domain: str) -> SourceClaims | None:
        """What the source knows of the company with that registrable domain; None: it answered, and knows nothing.

        Raises:
            BadRequest: `domain` is no registrable domain.
            tasks.errors.DiligenceError: the source could not be asked, or sent an invalid answer.
        """

    def domains(self, name: str) -> Sequence[str]:  # noqa: ARG002 - of those that have no names
        """The domains of the companies of exactly that name, in any case; none where the source has no names.

        Raises:
            tasks.errors.DiligenceError: the source could not be asked.
        """
        return []
