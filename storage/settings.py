"""Settings: how an area reads its own, and where things are stored.

The first of these that has a value for a setting decides: the batch file, while its batch runs (`override_settings`);
the environment (`DILIGENCE_…`); a file named after the setting in the folder `DILIGENCE_SECRETS_DIR` (where Docker,
Kubernetes and systemd put secrets); the default written in the class.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, SecretsSettingsSource, SettingsConfigDict

from storage.context import holding

S = TypeVar("S", bound="Settings")

_Variables = tuple[tuple[bytes, bytes], ...]
_SECRETS: Final = "DILIGENCE_SECRETS_DIR"
_environment: ContextVar[_Variables | None] = ContextVar("settings_environment", default=None)
_overrides: ContextVar[tuple[tuple[str, Any], ...]] = ContextVar("settings_overrides", default=())


class _Files(SecretsSettingsSource):
    """The files of secrets; an empty one is as good as none, as for a variable."""

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__call__().items() if value != ""}


class Settings(BaseSettings):
    """The settings of one area; each area derives its class from this one, and they share the prefix."""

    model_config = SettingsConfigDict(env_prefix="DILIGENCE_", env_ignore_empty=True, extra="ignore", frozen=True)

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[Any, ...]:
        """The sources of values in order of precedence; see the module."""
        return sources["init_settings"], sources["env_settings"], _Files(cls, os.environ.get(_SECRETS) or None)

    @classmethod
    def current(cls) -> Self:
        """The settings in force at this moment.

        Raises:
            pydantic.ValidationError: a setting has a value that its field does not allow.
        """
        environment, overrides = _environment.get(), _overrides.get()
        known = _built.get((cls, overrides, our_environment() if environment is None else environment))
        return cast("Self", known or _build(cls, overrides))


def our_environment() -> _Variables:
    """The environment variables that settings are read from, to pass to another process (`change_environment`)."""
    # What lies below os.environ: it decodes every name and value in Python, 30 µs; as bytes it takes 7, this 1.
    variables: dict[bytes, bytes] = dict(os.environb._data)  # type: ignore[attr-defined]  # noqa: SLF001
    before, ours = _seen[0]
    if variables != before:
        ours = tuple([item for item in variables.items() if item[0].startswith((b"DILIGENCE_", b"OPENAI_"))])
        _seen[0] = variables, ours
    return ours


def change_environment(variables: _Variables) -> None:
    """Make this process read its settings from these variables only."""
    for name, _ in our_environment():
        del os.environb[name]
    os.environb.update(variables)


_seen: Final[list[tuple[dict[bytes, bytes], _Variables]]] = [({}, ())]
"""The environment when it was looked at last, and what of it is ours."""


def environment_as_it_is() -> AbstractContextManager[None]:
    """Check for changes of the environment once for the whole block instead of at each look-up of a setting."""
    return holding(_environment, our_environment())


_built: Final[dict[tuple[type["Settings"], tuple[tuple[str, Any], ...], _Variables], "Settings"]] = {}
"""The settings objects for each state of the environment: to build one takes 0.3 ms."""
_MOST_BUILT: Final = 64


def _build(settings: type[S], overrides: tuple[tuple[str, Any], ...]) -> S:
    environment = our_environment()  # from which it is built, whatever a block began with
    values = {name: value for name, value in overrides if name in settings.model_fields}
    folder = os.environ.get(_SECRETS)
    try:
        if folder and not Path(folder).is_dir():
            raise NotADirectoryError(0, "no such folder")
        built = settings(**values)
    except OSError as error:
        wrong = PydanticCustomError("secrets", "its files cannot be read ({why})", {"why": error.strerror})
        mistake = InitErrorDetails(type=wrong, loc=("secrets_dir",), input=None)
        raise ValidationError.from_exception_data(settings.__name__, [mistake]) from None
    if len(_built) >= _MOST_BUILT:
        _built.clear()
    _built[settings, overrides, environment] = built
    return built


def override_settings(values: Mapping[str, str | int | float | bool]) -> AbstractContextManager[None]:
    """Give settings other values in the block: names as in the environment, in lower case and without the prefix."""
    return holding(_overrides, (*_overrides.get(), *values.items()))


def _with_driver(address: str) -> str:
    """A database's address with the driver that is installed: most hosts of PostgreSQL give theirs without one."""
    scheme, colon, rest = address.partition("://")
    return f"postgresql+psycopg{colon}{rest}" if scheme in {"postgres", "postgresql"} else address


class StorageSettings(Settings):
    """Where the database, the spool and Prefect's home are."""

    home: Path = Field(Path(".diligence"), description="database, spool, Prefect's home")
    database_url: Annotated[str, AfterValidator(_with_driver)] | None = Field(
        None, description="SQLite in the home, or postgresql://…"
    )
    database_password: SecretStr | None = Field(None, description="the password for database_url, kept separately")
    secrets_dir: Path | None = Field(
        None, description="a folder with one file per secret setting, named after it; for containers and systemd"
    )
    database_patience: float = Field(30.0, ge=0, description="seconds that a run waits for a PostgreSQL that restarts")
    secret_key: SecretStr | None = Field(
        None,
        description="encrypts stored logins: 32 bytes in base64; several, separated by commas, while it changes",
    )


def is_loopback(host: str) -> bool:
    """Whether a host, a name or an IP address perhaps in brackets, is this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_web_address(address: str) -> bool:
    """Whether the value of a setting is an http(s) address with a host."""
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
