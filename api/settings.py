"""Settings of the service: who may call it, and how much a call may bring."""

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from storage.settings import Settings


class ApiSettings(Settings):
    """What holds for every request. They are read once, when the service starts."""

    api_keys: SecretStr | None = Field(None, description="the keys that callers may use, comma-separated")
    max_body_mb: int = Field(64, gt=0, description="largest request body")
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
