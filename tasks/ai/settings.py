"""Which model is asked, where and how."""

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage.settings import RoomSettings


class AiSettings(RoomSettings):
    """Without `ai_model` no model is asked. The two `OPENAI_` names are the ones every such tool reads."""

    model_config = SettingsConfigDict(populate_by_name=True, str_strip_whitespace=True)

    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="the key of the AI server"
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias="OPENAI_BASE_URL",
        description="the AI server's address, usually ending in /v1; OpenAI's own with a key alone",
    )
    ai_model: str | None = Field(None, description="the model's name as the server knows it")
    ai_api: Literal["auto", "responses", "chat"] = Field("auto", description="the protocol; auto finds it out")
    ai_timeout: float = Field(120, gt=0, description="seconds that one answer of the model may take")
