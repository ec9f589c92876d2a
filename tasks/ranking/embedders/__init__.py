"""The embedders, and which one the settings choose. Each implements `tasks.ranking.semantic:Embedder`.

local     a model on this machine
server    a model behind an address that speaks OpenAI's `/v1/embeddings`
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from storage.settings import is_web_address
from tasks.errors import NotConfigured
from tasks.ranking.embedders.local import LocalEmbedder
from tasks.ranking.semantic import AUTO, LOCAL, OFF, WITHIN, Candidate, Embedder, EmbeddingSettings, SemanticRanking
from tasks.remote.environment import check_connection


def embedder() -> Embedder | None:
    """The embedder that the current settings choose; None if `DILIGENCE_EMBEDDINGS` is off.

    Raises:
        NotConfigured: a model is named but no server, or the address or the key is malformed.
    """
    return _make(EmbeddingSettings.current())


def semantic_ranking(
    passages: Callable[[], Iterable[Candidate]], room: int = 0, within: float = WITHIN
) -> SemanticRanking | None:
    """The ranking by meaning for the room with that number, according to the settings; None if they want none.

    `within` is how many processor seconds it may take if nobody asked for it.

    Raises:
        NotConfigured: as `embedder`.
    """
    model, is_asked_for = embedder(), EmbeddingSettings.current().embeddings != AUTO
    return SemanticRanking(model, passages, None if is_asked_for else within, room) if model else None


@lru_cache(maxsize=8)
def _make(settings: EmbeddingSettings) -> Embedder | None:
    """The embedder for the settings, the same one each time: it keeps its connections and its server's batch size."""
    if settings.embeddings in {OFF, ""}:
        return None
    if settings.embeddings in {AUTO, LOCAL}:
        return LocalEmbedder()
    own_server = settings.embeddings_url is not None
    if own_server:
        address, secret = settings.embeddings_url, settings.embeddings_key
    else:
        address, secret = settings.openai_base_url, settings.openai_api_key
    if address is None and secret is None:
        raise NotConfigured(
            "DILIGENCE_EMBEDDINGS names a model, but no server is configured. Set OPENAI_API_KEY for OpenAI, "
            "OPENAI_BASE_URL or DILIGENCE_EMBEDDINGS_URL for another server, or set DILIGENCE_EMBEDDINGS to local."
        )
    if address is not None and not is_web_address(address):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_URL' if own_server else 'OPENAI_BASE_URL'} is not a web address. Set it to one "
            "such as http://127.0.0.1:11434/v1, or leave it out."
        )
    key = secret.get_secret_value().strip() if secret else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_KEY' if own_server else 'OPENAI_API_KEY'} contains characters that keys do not "
            "have. Set it again without quotation marks or line breaks."
        )
    from tasks.ranking.embedders.server import OPENAI, ServerEmbedder  # noqa: PLC0415 - openai: 0.5 s

    check_connection(address or OPENAI)
    return ServerEmbedder(settings.embeddings, address, key)
