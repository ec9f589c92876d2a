"""Which embedding model puts passages in order, and where it runs."""

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage.settings import Settings

LOCAL = "local"


class EmbeddingSettings(Settings):
    """Without `embeddings` passages are ranked by their words alone.

    A key belongs to its address: `OPENAI_API_KEY` is never sent to `embeddings_url`.
    """

    model_config = SettingsConfigDict(populate_by_name=True, str_strip_whitespace=True)

    embeddings: str | None = Field(
        None,
        description="local (needs the extra diligence[semantic]), or an embedding model's name as its server knows it",
    )
    embeddings_url: str | None = Field(
        None, description="the address of the embedding server, usually ending in /v1; OPENAI_BASE_URL without it"
    )
    embeddings_key: SecretStr | None = Field(None, description="the key of the server at DILIGENCE_EMBEDDINGS_URL")
    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="the key of the AI server"
    )
    openai_base_url: str | None = Field(
        None, validation_alias="OPENAI_BASE_URL", description="the AI server's address, usually ending in /v1"
    )
