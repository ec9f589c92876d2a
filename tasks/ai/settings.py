"""Which model to ask, where, and how."""

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage.settings import Settings


class AiSettings(Settings):
    """Without `ai_model` no model is called. The two `OPENAI_` variables are the ones that every such tool reads."""

    model_config = SettingsConfigDict(populate_by_name=True, str_strip_whitespace=True)

    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="the key of the AI server"
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias="OPENAI_BASE_URL",
        description="the AI server's address, usually ending in /v1; OpenAI's own if only a key is set",
    )
    ai_model: str | None = Field(None, description="the model's name as the server knows it")
    ai_api: Literal["auto", "responses", "chat"] = Field("auto", description="the protocol; auto detects it")
    ai_timeout: float = Field(
        120,
        gt=0,
        description="seconds that a model may be silent (besides reading), and that a busy server is waited for",
    )
    ai_window: int | None = Field(
        None, ge=512, description="tokens that the model accepts at once; detected if not set"
    )
    ai_probe: bool = Field(
        True, description="whether an AI server is tested once, with a small question, for what it can do"
    )
    ai_search_plan: bool = Field(
        True, description="whether the model is asked, once for each criterion, how documents would put it"
    )
    ai_statement_check: bool = Field(
        True, description="whether the model checks, in a separate call, what answers and reasons state"
    )
