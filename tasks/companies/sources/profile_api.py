"""Facts from the commercial provider of company profiles, for whoever has a key to it.

Two calls a company: its web domain gives the profile's address, the address gives the whole profile. The provider
speaks at new paths, and at older ones where it has not moved yet. Calls that fail are not charged; when the credits
are spent, it is left alone.

The commercial provider's company profile as ours: its names for ours, and what does not fit left out.

Its profile has the shape of ours, with the names of networks and databases in its keys and a few keys more.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from tasks.companies.claims import Claiming, a_day, left_out, one_text, tidy
from tasks.companies.domain import registrable
from tasks.companies.profile import CompanyProfile, value_at
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import CLAIMABLE, Finding
from tasks.companies.web.client import Limits, Web
from tasks.companies.web.pace import Pace
from tasks.companies.web.response import Answer
from tasks.companies.web.safe_addresses import Address
from tasks.errors import DiligenceError, NotConfigured, SourceFailed

_NAMES: Final = {"linkedin": "social", "crunchbase": "funding_db", "facebook": "network_a", "twitter": "network_b"}
"""What stands in its keys, and what stands in ours."""
_ROUNDS: Final = 3


def our_profile(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The provider's profile with our keys and types, and the paths of the values that were left out.

    A key that we do not have is passed over in silence. A value of a wrong type is left out where it stands: one
    bad post does not take the others with it.
    """
    values = _renamed(tidy(dict(given)))
    values.pop("last_updated", None)  # the date of the whole, and no value of its own
    wrong: list[str] = []
    for _ in range(_ROUNDS):
        try:
            CompanyProfile.model_validate(values)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False, include_input=False)
        else:
            return values, wrong
        # The two types of a number are steps of the validator, not of the profile.
        kinds = {
            tuple(step for step in error["loc"] if step not in {"int", "float"}): error["type"] for error in errors
        }
        wrong += [_path(location) for location, kind in kinds.items() if kind != "extra_forbidden"]
        for location in reversed(kinds):  # from the back: what is taken out of a list moves those behind it
            _drop(values, location)
    return {}, [*wrong, "the whole profile"]


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {_our_name(key): _renamed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each) for each in value]
    return value


def _our_name(key: str) -> str:
    return "_".join(_NAMES.get(part, part) for part in key.split("_"))


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(step for step in location if isinstance(step, str))


def _drop(values: Any, location: tuple[int | str, ...]) -> None:
    """Take out what stands there, unless something around it went before."""
    try:
        for step in location[:-1]:
            values = values[step]
        del values[location[-1]]
    except (KeyError, IndexError, TypeError):
        return


_PATHS: Final = ("/api/v2/company", "/proxycurl/api/linkedin/company")
"""Where companies are asked for: the new path, and the older one."""
_PARTS: Final = ("categories", "funding_data", "extra", "exit_data", "acquisitions")
"""What a profile has only when it is asked for."""
_NOTHING: Final = frozenset({404, 410})
_REFUSALS: Final = frozenset({401, 403})
_PACE: Final = Pace(10, 5)
"""300 calls a minute. A trial has 2 a minute: the provider says so with 429, and for how long."""
_LIMITS: Final = Limits(wait=60, total=60)
"""The provider advises to wait for 60 s."""
_REST: Final = 3600
"""Seconds that the provider is left alone for, once the credits are spent."""

_spoken: dict[str, str] = {}
"""The path that a server was found to speak, by its address."""
_spent: dict[tuple[str, str], float] = {}
"""Until when (`time.monotonic`) a key is not used at an address, since its credits are spent."""


@dataclass(frozen=True)
class _Found:
    """What a domain was resolved to. `profile` is one without the parts that cost more, where it was given."""

    url: str | None
    profile: Mapping[str, Any] | None
    updated: str | None


def open_source() -> "ProfileApiSource":
    """The source as `DILIGENCE_PROFILE_API_URL` and `DILIGENCE_PROFILE_API_KEY` have it."""
    settings = CompanySettings.current()
    key = settings.profile_api_key
    return ProfileApiSource(settings.profile_api_url, key.get_secret_value().strip() if key else "")


class ProfileApiSource:
    """Facts from the provider at `address`, asked with `key`; an empty key is none."""

    name = "profile_api"

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._key = key

    @property
    def origin(self) -> str:
        return self._address

    def facts(self, domain: str) -> Finding | None:
        """The claims of the company's profile, as of its last update; None where the provider does not know it.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotConfigured: there is no key, or the provider does not take it.
            SourceFailed: the credits are spent, or the provider answered wrongly.
            DiligenceError: it could not be asked.
        """
        domain = registrable(domain)
        if not self._key:
            raise NotConfigured(
                "The source profile_api needs a key. Set DILIGENCE_PROFILE_API_KEY, "
                "or leave profile_api out of DILIGENCE_FACT_SOURCES."
            )
        answer = self._ask("/resolve", {"company_domain": domain, "enrich_profile": "enrich"})
        if answer is None:
            return None
        found = _found(answer)
        profile, origin, warnings = found.profile, answer.url, []
        if found.url is not None:
            try:
                whole = self._ask("", {"url": found.url, **dict.fromkeys(_PARTS, "include"), "use_cache": "if-present"})
                if whole is not None:
                    profile, origin = _object(whole), whole.url
            except DiligenceError as error:
                if profile is None:
                    raise
                warnings = [f"The source profile_api gave a part of the profile only. {error.message}"]
        if profile is None:
            return None
        return _finding(domain, profile, found, origin, warnings)

    def domains(self, name: str) -> Sequence[str]:  # noqa: ARG002 - the seam's
        """None: the provider looks for names that are alike, and is paid for it."""
        return []

    def _ask(self, what: str, params: Mapping[str, str]) -> Answer | None:
        """The provider's answer; None where it knows nothing. Which path it speaks is found out once.

        Raises:
            NotConfigured, SourceFailed: the key is not taken, its credits are spent, or the answer is none.
            DiligenceError: as `Web.get`.
        """
        spoken = _spoken.get(self._address)
        for path in (spoken,) if spoken else _PATHS:
            answer = self._call(f"{self._address}{path}{what}", params)
            if answer.status in _NOTHING:
                continue
            is_json = answer.content.lstrip()[:1] == b"{"
            if not is_json and path not in {spoken, _PATHS[0]}:
                continue  # nobody speaks there: a site has a page, or a guard, for everything
            self._check(answer)
            if not is_json:
                raise SourceFailed("The profile provider sent something else than the JSON that it should have.")
            _spoken[self._address] = path
            return answer
        return None

    def _call(self, url: str, params: Mapping[str, str]) -> Answer:
        """One call, unless the credits are known to be spent."""
        if _spent.get((self._address, self._key), 0) > time.monotonic():
            raise _out_of_credits()
        return Web.current().get(
            url,
            params,
            headers={"Authorization": f"Bearer {self._key}", "Accept": "application/json"},
            trusted=True,
            pace=_PACE,
            limits=_LIMITS,
            expect=_REFUSALS | _NOTHING,
            name="The profile provider",
        )

    def _check(self, answer: Answer) -> None:
        """Raise what a refusal means, and note when the credits are spent."""
        if answer.status == 401:
            raise NotConfigured(
                "The profile provider does not take the key. Set DILIGENCE_PROFILE_API_KEY to one that is valid."
            )
        if answer.status == 403:
            _spent[self._address, self._key] = time.monotonic() + _REST
            raise _out_of_credits()


def _out_of_credits() -> SourceFailed:
    return SourceFailed(
        "The profile provider says that the credits of DILIGENCE_PROFILE_API_KEY are spent (HTTP 403). "
        "It is not asked again for an hour; buy credits, or leave profile_api out of DILIGENCE_FACT_SOURCES."
    )


def _object(answer: Answer) -> dict[str, Any]:
    said = answer.json()
    if not isinstance(said, dict):
        raise SourceFailed("The profile provider sent something else than a profile.")
    return said


def _found(answer: Answer) -> _Found:
    said = _object(answer)
    profile = said.get("profile")
    url = one_text(said.get("url")) or ""
    return _Found(
        url=url if url.startswith(("https://", "http://")) else None,
        profile=profile if isinstance(profile, dict) and profile else None,
        updated=a_day(said.get("last_updated")),
    )


def _finding(
    domain: str, given: Mapping[str, Any], found: _Found, origin: str, warnings: Sequence[str]
) -> Finding | None:
    profile, wrong = our_profile({**given, "social_url": found.url})
    claims = Claiming("profile_api", origin, found.updated)
    for field in CLAIMABLE:
        claims.add(field, value_at(profile, field))
    told = [*warnings, *([left_out("profile_api", wrong)] if wrong else [])]
    host = _host(profile.get("website"))
    if host is not None and host != domain and not host.endswith(f".{domain}"):
        told.append(f"The profile that profile_api has for {domain} gives another website: {host}.")
    return claims.finding(*told)


def _host(website: str | None) -> str | None:
    """The host of an address, in A-labels; None where that cannot be told."""
    try:
        return Address.parse(website).host if website else None
    except DiligenceError:
        return None
