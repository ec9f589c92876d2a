"""Settings of the service: who may call it, and how much a call may bring."""

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from api.keyring import CallRate
from storage.settings import Settings


class ApiSettings(Settings):
    """What holds for every request. They are read once, when the service starts."""

    api_keys: SecretStr | None = Field(None, description="the keys that callers may use, comma-separated")
    max_body_mb: int = Field(64, gt=0, description="largest request body")
    connections_per_address: int = Field(
        100,
        gt=0,
        description="connections that one address may have; behind a proxy, which has one address, those of all",
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
        """A list of commas alone must not read as "no keys": that would open the service."""
        if keys is not None and not _split(keys):
            raise ValueError("must hold at least one key, or be left out")
        return keys

    @field_validator("rate_limit")
    @classmethod
    def _says_a_rate(cls, text: str | None) -> str | None:
        if text is not None:
            CallRate.parsed(text)
        return text

    @property
    def call_rate(self) -> CallRate | None:
        """A new count of calls with the rate that is set; None where none is."""
        return CallRate.parsed(self.rate_limit) if self.rate_limit else None

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
