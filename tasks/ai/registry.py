"""The available answerers, and the one that the settings select.

To add an answerer, write a module with `from_settings(settings: AiSettings) -> Answerer` and add a line to `ANSWERERS`.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

from tasks.ai.answerer import Answerer
from tasks.ai.pseudonyms import PseudonymousAnswerer, is_on
from tasks.ai.settings import AiSettings

ANSWERERS: tuple[tuple[str, Callable[[AiSettings], bool]], ...] = (
    ("tasks.ai.openai.answerer", lambda settings: bool(settings.ai_model)),
    ("tasks.ai.extractive", lambda _: True),
)
"""The modules, each with the condition under which it is used; the first that holds decides.

Modules are named, not imported: the `openai` library takes 0.7 s to import and is needed only with a model.
"""


def current_answerer() -> Answerer:
    """The answerer that the settings select: a model if `DILIGENCE_AI_MODEL` names one, otherwise extractive.

    The same settings give the same object, which keeps its connections and what it knows about its server. If names are
    to be replaced, it is wrapped by `tasks.ai.pseudonyms`.

    Raises:
        NotConfigured: a model is named without a server, or address or key cannot be right.
    """
    settings = AiSettings.current()
    module = next(module for module, is_used in ANSWERERS if is_used(settings))
    answerer = _make(module, settings)
    return PseudonymousAnswerer(answerer) if answerer.model is not None and is_on() else answerer


@lru_cache(maxsize=8)
def _make(module: str, settings: AiSettings) -> Answerer:
    answerer: Answerer = import_module(module).from_settings(settings)
    return answerer
