"""Settings of the service: who may call it, and how much a call may bring."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field, SecretStr, field_validator

from storage.model_calls import CallCounts
from storage.settings import Settings
from tasks.errors import TooManyRequests

_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


class CallRate:
    """At most `count` calls in `seconds` for each caller, counted in memory, or by `counts` with other processes."""

    def __init__(self, count: int, seconds: float) -> None:
        self.counts = CallCounts(Path(":memory:"))
        self._count, self._seconds = count, seconds

    @classmethod
    def parse(cls, text: str) -> "CallRate":
        """Parse a rate such as `60/minute`.

        Raises:
            ValueError: the text is no such rate.
        """
        count, _, unit = text.strip().partition("/")
        seconds = _UNITS.get(unit.strip().removesuffix("s"))
        if seconds is None or not count.strip().isdecimal() or int(count) < 1:
            raise ValueError("must be a number of calls in a second, minute, hour or day, such as 60/minute")
        return cls(int(count), seconds)

    def check(self, caller: str) -> None:
        """Count a call.

        Raises:
            TooManyRequests: the caller has no call left; it says when the next one is.
        """
        wait = self.counts.add(caller, self._count, self._seconds)
        if wait:
            seconds = max(1, int(wait) + 1)
            raise TooManyRequests(f"More than {self._count} calls in {self._seconds:g} s. Wait {seconds} s.", seconds)


class ApiSettings(Settings):
    """Settings that hold for every request, read once when the service starts."""

    api_keys: SecretStr | None = Field(None, description="the keys that callers may use, comma-separated")
    max_body_mb: int = Field(64, gt=0, description="largest request body")
    connections_per_address: int = Field(
        100,
        gt=0,
        description="connections that one address may have; behind a proxy, which has one address, those of all",
    )
    shutdown_timeout: int = Field(
        120, ge=0, description="seconds that requests under way get when the service is stopped; a model may take 120"
    )
    rate_limit: str | None = Field(
        None, description="e.g. 60/minute: calls of each key, or of each address where none is sent"
    )
    track_calls: Literal["off", "inline"] = Field(
        "off", description="inline: on-demand calls show as Prefect task runs too"
    )

    @field_validator("api_keys")
    @classmethod
    def _holds_a_key(cls, keys: SecretStr | None) -> SecretStr | None:
        """Refuse a list of only commas: read as "no keys", it would open the service."""
        if keys is not None and not _split(keys):
            raise ValueError("must hold at least one key, or be left out")
        return keys

    @field_validator("rate_limit")
    @classmethod
    def _says_a_rate(cls, text: str | None) -> str | None:
        if text is not None:
            CallRate.parse(text)
        return text

    @property
    def call_rate(self) -> CallRate | None:
        """A new counter for the rate that is set; None if none is set."""
        return CallRate.parse(self.rate_limit) if self.rate_limit else None

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The configured API keys; none means that every caller on this machine is let in."""
        return _split(self.api_keys) if self.api_keys else ()

    @property
    def max_body_bytes(self) -> int:
        """The largest request body in bytes."""
        return self.max_body_mb * 1024 * 1024


def _split(keys: SecretStr) -> tuple[bytes, ...]:
    return tuple(key.strip().encode() for key in keys.get_secret_value().split(",") if key.strip())
