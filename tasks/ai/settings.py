"""Which model to ask, where, and how."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage.settings import Settings
from tasks.ai.money import Cap


def _as_cap(value: Any) -> str | None:
    return str(Cap.parse(str(value))) if value is not None else None


def _as_switch(value: Any) -> Any:
    return ("on" if value else "off") if isinstance(value, bool) else value


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
    ai_budget: Annotated[str | None, BeforeValidator(_as_cap)] = Field(
        None, description="the most that a run may spend on the model: 0.50 USD or 20000 tokens"
    )
    ai_monthly_budget: Annotated[str | None, BeforeValidator(_as_cap)] = Field(
        None, description="the most that all runs of this database may spend on models in a calendar month (UTC)"
    )
    ai_prices: Path | None = Field(
        None, description="a file of models' prices, which take precedence over the built-in ones"
    )
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
