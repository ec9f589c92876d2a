"""The settings that stand in a batch file: any setting of a run, by its name in lower case without the prefix.

They rule over the environment while the batch runs. Secrets are refused: a batch file is passed
around. Where things are stored is no setting of a run: it is known before the file is read.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr, ValidationError

from storage.settings import RoomSettings, StorageSettings, given
from tasks.ai.settings import AiSettings
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import configured
from tasks.documents.settings import DocumentSettings
from tasks.errors import NotConfigured
from tasks.ranking.semantic.settings import EmbeddingSettings
from tasks.user_file import UserFile, nearest, told

Value = str | int | float | bool
MONEY = frozenset({"ai_budget", "ai_prices"})
"""What a run may cost: no matter of what is asked."""

_ROOMS: tuple[type[RoomSettings], ...] = (DocumentSettings, CompanySettings, AiSettings, EmbeddingSettings)
_FIELDS = {name: field for room in _ROOMS for name, field in room.model_fields.items()}
_SECRET = {name for name, field in _FIELDS.items() if field.annotation in {SecretStr, SecretStr | None}}
_GUARDED = {name for name in _FIELDS if name.startswith("google_")} | {
    *("web_allow", "search_url", "profile_api_url", "openai_base_url", "embeddings_url")
}
"""Whose account a run acts as, where its keys and texts go, which private networks it reaches: not a file's to say."""
_ALLOWED = sorted(_FIELDS.keys() - _SECRET - _GUARDED)
_PATHS = {name for name, field in _FIELDS.items() if field.annotation in {Path, Path | None}}


def read_settings(file: UserFile, written: Mapping[str, Any]) -> dict[str, Value]:
    """The settings as `storage.settings.given` takes them; paths count from the file. Mistakes are noted there."""
    values: dict[str, Value] = {}
    for name, value in written.items():
        if name in _SECRET:
            file.mistake((name,), f"a secret has no place in a file; set it in the environment, as {_variable(name)}")
        elif name in StorageSettings.model_fields or name in _GUARDED:
            file.mistake((name,), f"it is not a run's own setting; set it in the environment, as {_variable(name)}")
        elif name not in _ALLOWED:
            file.mistake((name,), f"there is no such field or setting{nearest(str(name), _known())}")
        elif name in _PATHS:
            if isinstance(value, str) and value.strip():
                values[name] = str(file.path.parent.absolute() / value.strip())
            else:
                file.mistake((name,), "must be a path, which counts from this file")
        elif isinstance(value, list) and all(isinstance(each, Value) for each in value):
            values[name] = ",".join(map(str, value))
        elif isinstance(value, Value):
            values[name] = value
        else:
            file.mistake((name,), "must be one value or a list of values")
    return values if _are_right(file, values) else {}


def with_facts(settings: dict[str, Value], beside: Path) -> dict[str, Value]:
    """The source `files` looks in `facts` beside the batch, when nothing else is said and it is there."""
    folder = beside.absolute() / "facts"
    if "facts" not in settings and not os.environ.get("DILIGENCE_FACTS") and folder.is_dir():
        return settings | {"facts": str(folder)}
    return settings


def _are_right(file: UserFile, values: Mapping[str, Value]) -> bool:
    """Whether the rooms take these values; what they refuse is noted. The environment's mistakes are its own."""
    right = True
    for room in _ROOMS:
        own = {name: value for name, value in values.items() if name in room.model_fields}
        try:
            cast("Any", room)(**own)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                name = str(each["loc"][0]).lower() if each["loc"] else ""
                if name in own:
                    file.mistake((name,), told(each))
                    right = False
    if right and "fact_sources" in values:
        try:
            with given(values):
                configured()
        except NotConfigured as error:
            file.mistake(("fact_sources",), error.message)
            right = False
    return right


def _variable(name: str) -> str:
    return name.upper() if name.startswith("openai_") else f"DILIGENCE_{name.upper()}"


def _known() -> list[str]:
    return ["name", "criteria", "companies", *_ALLOWED]
