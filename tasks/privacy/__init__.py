"""What of a room goes to no model, or only under other names, and the settings that say so."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_settings import SettingsConfigDict

from storage.settings import Settings


def _as_switch(value: Any) -> Any:
    return ("on" if value else "off") if isinstance(value, bool) else value


class PrivacySettings(Settings):
    """What a model is not told."""

    model_config = SettingsConfigDict(str_strip_whitespace=True)

    ai_privileged: str | None = Field(
        None,
        description="what is never sent to a model: folders, names (with * and ?) or kinds of documents, with commas",
    )
    ai_privileged_model: str | None = Field(
        None,
        description="the one model that may be given privileged documents, where its server is local",
    )
    ai_pseudonyms: Annotated[str | None, BeforeValidator(_as_switch)] = Field(
        None,
        description="on, or a file of names, one per line: stand-ins replace names of people and companies for models",
    )
