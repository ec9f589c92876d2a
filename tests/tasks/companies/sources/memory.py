"""The smallest source of facts: profiles in memory, which a test puts there."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.companies.claims import ClaimCollector, SourceClaims
from tasks.companies.profile import registrable
from tasks.companies.sources import FactSource
from tasks.errors import Unavailable
from tasks.language.normalise import same_name

PROFILES: Mapping[str, Mapping[str, Any]] | None = None
"""A profile for each domain; None: the source cannot be reached."""


class MemorySource:
    """Facts from `PROFILES`."""

    name = "memory"
    origin = None

    def facts(self, domain: str) -> SourceClaims | None:
        profile = self._profiles().get(registrable(domain), {})
        claims = ClaimCollector(self.name)
        for field, value in profile.items():
            for name, part in value.items() if field == "extra" else [(None, value)]:
                claims.add(f"{field}.{name}" if name else field, part)
        return claims.result()

    def domains(self, name: str) -> Sequence[str]:
        return [domain for domain, profile in self._profiles().items() if same_name(name, str(profile["name"]))]

    def _profiles(self) -> Mapping[str, Mapping[str, Any]]:
        if PROFILES is None:
            raise Unavailable("The profiles in memory cannot be reached.")
        return PROFILES


def open_source() -> FactSource:
    return MemorySource()
