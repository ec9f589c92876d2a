"""The interface of a source of facts about companies; every other module here except `registry` is one source.

To add a source, write a module here with a function `open_source()` and add it to `registry.SOURCES`.
"""

from collections.abc import Sequence
from typing import Protocol

from tasks.companies.claims import Claim, SourceClaims

__all__ = ["Claim", "FactSource", "SourceClaims"]


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
