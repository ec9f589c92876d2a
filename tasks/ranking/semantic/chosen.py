"""Which embedder the settings choose."""

from functools import lru_cache
from typing import TYPE_CHECKING

from storage.settings import is_web_address
from tasks.errors import NotConfigured
from tasks.ranking.semantic.embedder import Embedder
from tasks.ranking.semantic.settings import LOCAL, EmbeddingSettings

if TYPE_CHECKING:
    from tasks.ranking.semantic.kept import SemanticRanking


def semantic_ranking() -> "SemanticRanking | None":
    """The ranking by meaning for one data room; None where none is wanted.

    Raises:
        NotConfigured: as `embedder`.
    """
    chosen = embedder()
    if chosen is None:
        return None
    from tasks.ranking.semantic.kept import SemanticRanking  # noqa: PLC0415 - numpy: 0.1 s

    return SemanticRanking(chosen)


def embedder() -> Embedder | None:
    """The embedder that the settings in force choose; None without `DILIGENCE_EMBEDDINGS`.

    Raises:
        NotConfigured: the local model is not installed, a model is named without a place to ask it, or
            address or key cannot be right.
    """
    return _build(EmbeddingSettings.current())


@lru_cache(maxsize=8)
def _build(settings: EmbeddingSettings) -> Embedder | None:
    """One embedder for the same settings: it keeps its connections and how much the server takes at once."""
    if not settings.embeddings:
        return None
    if settings.embeddings == LOCAL:
        from tasks.ranking.semantic.local import LocalEmbedder  # noqa: PLC0415 - numpy: 0.1 s

        return LocalEmbedder()
    own = settings.embeddings_url is not None
    address, secret = (
        (settings.embeddings_url, settings.embeddings_key)
        if own
        else (settings.openai_base_url, settings.openai_api_key)
    )
    if address is None and secret is None:
        raise NotConfigured(
            "DILIGENCE_EMBEDDINGS names a model, but nothing says where to ask it. Set OPENAI_API_KEY for OpenAI, "
            "OPENAI_BASE_URL or DILIGENCE_EMBEDDINGS_URL for another server; or set it to local."
        )
    if address is not None and not is_web_address(address):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_URL' if own else 'OPENAI_BASE_URL'} is not a web address. Set it to one such as "
            "http://127.0.0.1:11434/v1, or leave it out."
        )
    key = secret.get_secret_value().strip() if secret else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_KEY' if own else 'OPENAI_API_KEY'} holds characters that no key has. Set it "
            "again, without quotation marks or line breaks."
        )
    from tasks.ranking.semantic.server import ServerEmbedder  # noqa: PLC0415 - numpy: 0.1 s

    return ServerEmbedder(settings.embeddings, address, key)
