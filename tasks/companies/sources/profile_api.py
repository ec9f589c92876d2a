"""Facts from a commercial provider of company profiles, for users who have a key for it.

A company takes two calls: its web domain gives the profile's address, and the address gives the full profile. The
provider answers at new paths, and at older ones where it has not moved yet. Failed calls are not charged; once the
credits are spent, it is not asked for an hour.

Its profile is structured like ours, except that some keys contain the names of networks and databases, and there are a
few more. `our_profile` renames the keys and drops values that do not fit.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.companies.claims import CLAIMABLE, ClaimCollector, SourceClaims, a_day, one_text, tidy, warn_left_out
from tasks.companies.profile import CompanySettings, find_mistakes, registrable, remove_value, value_at
from tasks.companies.sources import FactSource
from tasks.companies.web.client import FetchLimits, Web, WebResponse
from tasks.companies.web.transport import Address
from tasks.errors import DiligenceError, NotConfigured, SourceFailed
from tasks.remote.rate_limit import RateLimit, RateLimiter

_PATHS: Final = ("/api/v2/company", "/proxycurl/api/linkedin/company")
"""Where companies are asked for: the new path, and the older one."""
_OPTIONAL_PARTS: Final = ("categories", "funding_data", "extra", "exit_data", "acquisitions")
"""What a profile has only when it is asked for."""
_UNKNOWN: Final = frozenset({404, 410})
_REFUSALS: Final = frozenset({401, 403})
_LIMITS: Final = FetchLimits(wait=60, total=60)
"""The provider advises to wait for 60 s."""
_PAUSE_WITHOUT_CREDITS: Final = 3600
"""Seconds."""
_KEY_PARTS: Final = {
    "linkedin": "social",
    "crunchbase": "funding_db",
    "facebook": "network_a",
    "twitter": "network_b",
}
"""Parts of the provider's keys, and of ours."""
_VALIDATIONS: Final = 3
"""A value that is left out may show another mistake around it."""


@dataclass
class ProviderState:
    """What this process knows about the provider's servers.

    `limiter` allows 300 calls a minute; a trial account has 2 a minute, and the provider answers 429 with the time to
    wait.
    """

    limiter: RateLimiter = field(default_factory=lambda: RateLimiter(RateLimit(at_once=10, per_second=5)))
    path: dict[str, str] = field(default_factory=dict)
    """The path that a server answers at, by its address."""
    paused_until: dict[tuple[str, str], float] = field(default_factory=dict)
    """Until when (`time.monotonic`) a key has no credits at an address."""


STATE: Final = ProviderState()
"""What all sources of this process share."""


@dataclass(frozen=True)
class _Resolved:
    """The answer for a domain. `profile` has no optional parts; None if the provider did not include one."""

    url: str | None
    profile: Mapping[str, Any] | None
    updated: str | None


def open_source() -> "ProfileApiSource":
    """The source as configured by `DILIGENCE_PROFILE_API_URL` and `DILIGENCE_PROFILE_API_KEY`."""
    settings = CompanySettings.current()
    key = settings.profile_api_key
    return ProfileApiSource(settings.profile_api_url, key.get_secret_value().strip() if key else "", STATE)


class ProfileApiSource(FactSource):
    """Facts from the provider at `address`, asked with `key` (empty if there is none)."""

    name = "profile_api"

    def __init__(self, address: str, key: str, state: ProviderState) -> None:
        self._address = address
        self._key = key
        self._state = state

    @property
    def origin(self) -> str:
        return self._address

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims in the company's profile, as of its last update; None if the provider does not know it.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotConfigured: there is no key, or the provider does not accept it.
            SourceFailed: the credits are spent, or the provider sent invalid data.
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
        resolved = _resolve(answer)
        profile, origin, warnings = resolved.profile, answer.url, []
        if resolved.url is not None:
            parts = dict.fromkeys(_OPTIONAL_PARTS, "include")
            try:
                full = self._ask("", {"url": resolved.url, **parts, "use_cache": "if-present"})
                if full is not None:
                    profile, origin = _object(full), full.url
            except DiligenceError as error:
                if profile is None:
                    raise
                warnings = [f"The source profile_api returned only part of the profile. {error.message}"]
        if profile is None:
            return None
        return _claims(domain, profile, resolved, origin, warnings)

    def _ask(self, endpoint: str, params: Mapping[str, str]) -> WebResponse | None:
        """The provider's answer; None if it knows nothing. Which path the provider answers at is tried out once.

        Raises:
            NotConfigured, SourceFailed: the key is not accepted, has no credits, or the answer is invalid.
            DiligenceError: as `Web.get`.
        """
        known_path = self._state.path.get(self._address)
        for path in (known_path,) if known_path else _PATHS:
            answer = self._call(f"{self._address}{path}{endpoint}", params)
            if answer.status in _UNKNOWN:
                continue
            is_json = answer.content.lstrip()[:1] == b"{"
            if not is_json and path not in {known_path, _PATHS[0]}:
                continue  # the server does not know this path: it answers every one with a page, or refuses it
            self._check(answer)
            if not is_json:
                raise SourceFailed("The profile provider did not return the expected JSON.")
            self._state.path[self._address] = path
            return answer
        return None

    def _call(self, url: str, params: Mapping[str, str]) -> WebResponse:
        """Make one call, unless the key is known to have no credits."""
        if self._state.paused_until.get((self._address, self._key), 0) > time.monotonic():
            raise _make_credit_error()
        return Web.current().get(
            url,
            params,
            headers={"Authorization": f"Bearer {self._key}", "Accept": "application/json"},
            trusted=True,
            limiter=self._state.limiter,
            limits=_LIMITS,
            expect=_REFUSALS | _UNKNOWN,
            name="The profile provider",
        )

    def _check(self, answer: WebResponse) -> None:
        """Raise the error that a refusal stands for, and note if the credits are used up."""
        if answer.status == 401:
            raise NotConfigured(
                "The profile provider does not accept the key. Set DILIGENCE_PROFILE_API_KEY to one that is valid."
            )
        if answer.status == 403:
            self._state.paused_until[self._address, self._key] = time.monotonic() + _PAUSE_WITHOUT_CREDITS
            raise _make_credit_error()


def _make_credit_error() -> SourceFailed:
    return SourceFailed(
        "The profile provider says that the credits of DILIGENCE_PROFILE_API_KEY are spent (HTTP 403). "
        "It is not asked again for an hour; buy credits, or leave profile_api out of DILIGENCE_FACT_SOURCES."
    )


def _object(answer: WebResponse) -> dict[str, Any]:
    content = answer.json()
    if not isinstance(content, dict):
        raise SourceFailed("The profile provider did not return a profile.")
    return content


def _resolve(answer: WebResponse) -> _Resolved:
    content = _object(answer)
    profile = content.get("profile")
    url = one_text(content.get("url")) or ""
    return _Resolved(
        url=url if url.startswith(("https://", "http://")) else None,
        profile=profile if isinstance(profile, dict) and profile else None,
        updated=a_day(content.get("last_updated")),
    )


def _claims(
    domain: str, provided: Mapping[str, Any], resolved: _Resolved, origin: str, warnings: Sequence[str]
) -> SourceClaims | None:
    profile, unfit = our_profile({**provided, "social_url": resolved.url})
    claims = ClaimCollector("profile_api", origin, resolved.updated)
    for path in CLAIMABLE:
        claims.add(path, value_at(profile, path))
    all_warnings = [*warnings, *([warn_left_out("profile_api", unfit)] if unfit else [])]
    host = _host(profile.get("website"))
    if host is not None and host != domain and not host.endswith(f".{domain}"):
        all_warnings.append(f"The profile that profile_api has for {domain} gives another website: {host}.")
    return claims.result(*all_warnings)


def _host(website: str | None) -> str | None:
    """The host of an address, as A-labels; None if there is none."""
    try:
        return Address.parse(website).host if website else None
    except DiligenceError:
        return None


def our_profile(provided: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The provider's profile with our keys and types, and the paths of values that were left out.

    Keys that our profile does not have are dropped silently. A value of the wrong type is left out by itself, so one
    bad post does not remove the others.
    """
    values = _rename(tidy(dict(provided)))
    values.pop("last_updated", None)  # the date of the whole profile, and no value of its own
    unfit: list[str] = []
    for _ in range(_VALIDATIONS):
        mistakes = find_mistakes(values)
        if not mistakes:
            return values, unfit
        unfit += [_path(location) for location, one in mistakes.items() if one["type"] != "extra_forbidden"]
        for location in reversed(mistakes):  # from the back: removing an element of a list moves those behind it
            remove_value(values, location)
    return {}, [*unfit, "the whole profile"]


def _rename(value: Any) -> Any:
    if isinstance(value, dict):
        ours = {key: "_".join(_KEY_PARTS.get(part, part) for part in key.split("_")) for key in value}
        return {ours[key]: _rename(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_rename(element) for element in value]
    return value


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(step for step in location if isinstance(step, str))
