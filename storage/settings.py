"""Where things are kept, and how every room reads its settings.

A setting comes from, first found first taken: the batch file that is being run
(`given`), the environment (`DILIGENCE_…`), the default written in the class.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

S = TypeVar("S", bound="RoomSettings")

_given: ContextVar[tuple[tuple[str, Any], ...]] = ContextVar("given_settings", default=())


class RoomSettings(BaseSettings):
    """One room's settings; every room's class derives from this one and shares the prefix."""

    model_config = SettingsConfigDict(env_prefix="DILIGENCE_", env_ignore_empty=True, extra="ignore", frozen=True)

    @classmethod
    def current(cls) -> Self:
        """The settings in force here and now.

        Raises:
            pydantic.ValidationError: a setting has a value that its field does not allow.
        """
        # As bytes: os.environ decodes every name and value in Python, 30 µs where this takes 7.
        variables = os.environb
        environment = tuple(
            (name, variables[name]) for name in variables if name.startswith((b"DILIGENCE_", b"OPENAI_"))
        )
        return cast("Self", _build(cls, _given.get(), environment))  # lru_cache forgets the type


@lru_cache(maxsize=64)
def _build(settings: type[S], values: tuple[tuple[str, Any], ...], _environment: tuple[tuple[bytes, bytes], ...]) -> S:
    """Building a settings object costs 0.3 ms; a request must not pay that several times."""
    return settings(**{name: value for name, value in values if name in settings.model_fields})


@contextmanager
def given(values: Mapping[str, str | int | float | bool]) -> Iterator[None]:
    """Let `values` (names as in the environment, lower case, without the prefix) rule within the block."""
    token = _given.set((*_given.get(), *values.items()))
    try:
        yield
    finally:
        _given.reset(token)


class StorageSettings(RoomSettings):
    """Where the database, the spool and Prefect's home lie."""

    home: Path = Field(Path(".diligence"), description="database, spool, Prefect's home")
    database_url: str | None = Field(None, description="SQLite in the home, or postgresql+psycopg://…")
    secret_key: SecretStr | None = Field(
        None, description="seals stored logins: 32 bytes in base64; several, comma-separated, while it is changed"
    )


def is_web_address(address: str) -> bool:
    """Whether a setting is an http(s) address with a host."""
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
