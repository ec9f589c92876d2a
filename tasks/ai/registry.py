"""The available answerers, and the one that the settings select.

To add an answerer, write a module with `from_settings(settings: AiSettings) -> Answerer` and add a line to `ANSWERERS`.

If `DILIGENCE_AI_PSEUDONYMS` asks for it, every model is told stand-ins for the names in the user's list
(`tasks.privacy.StandIns`); callers that know a room add its names (`with_names`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

from pydantic import BaseModel

from tasks.ai.answerer import AiSettings, Answer, AnswerCut, Answerer, Source, T, Verdict
from tasks.privacy import Names, StandIns, hides_names, user_names
from tasks.spending.budget import Ledger

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
    to be replaced, it is wrapped by `PseudonymousAnswerer`.

    Raises:
        NotConfigured: a model is named without a server, or address or key cannot be right.
    """
    settings = AiSettings.current()
    module = next(module for module, is_used in ANSWERERS if is_used(settings))
    answerer = _make(module, settings)
    return PseudonymousAnswerer(answerer) if answerer.model is not None and hides_names() else answerer


@lru_cache(maxsize=8)
def _make(module: str, settings: AiSettings) -> Answerer:
    answerer: Answerer = import_module(module).from_settings(settings)
    return answerer


def with_names(answerer: Answerer, find: Callable[[], Names]) -> Answerer:
    """An answerer that replaces these names too, if names are replaced; `find` is called at the first question."""
    return PseudonymousAnswerer(answerer.inner, find) if isinstance(answerer, PseudonymousAnswerer) else answerer


_stand_ins = lru_cache(maxsize=8)(StandIns)
"""The stand-ins for names: the same object for the same names."""


class PseudonymousAnswerer(Answerer):
    """Sends stand-ins in place of names to another answerer, and restores the names in its answers."""

    inner: Answerer

    def __init__(self, inner: Answerer, find: Callable[[], Names] = Names) -> None:
        """Replace the user's names, and those that `find` returns at the first question."""
        self.inner = inner
        self.name, self.model, self.address, self.judges = inner.name, inner.model, inner.address, inner.judges
        self._find, self._lock = find, Lock()

    @cached_property
    def _stand_ins(self) -> StandIns:
        with self._lock:
            return _stand_ins(user_names() | self._find())

    def answer(self, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None) -> Answer:
        """As `Answerer.answer`."""
        written = [question, *(part for source in sources for part in (source.name, source.place or "", source.text))]
        (asked, *parts), show = self._stand_ins.hide(written)
        hidden = [
            replace(source, name=parts[at], place=parts[at + 1] or None, text=parts[at + 2])
            for at, source in zip(range(0, len(parts), 3), sources, strict=True)
        ]
        try:
            answer = self.inner.answer(asked, hidden, ledger=ledger)
        except AnswerCut as cut:
            cut.text = show(cut.text)
            raise
        return replace(answer, text=show(answer.text), notes=tuple(map(show, answer.notes)))

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,
        one_attempt: bool = False,
    ) -> Verdict[T]:
        """As `Answerer.judge`."""
        (told, given), show = self._stand_ins.hide([instructions, material])
        try:
            verdict = self.inner.judge(told, given, schema, ledger=ledger, one_attempt=one_attempt)
        except AnswerCut as cut:
            cut.text = show(cut.text)
            raise
        return replace(verdict, value=_show_in(verdict.value, show))


def _show_in(value: Any, show: Callable[[str], str]) -> Any:
    """The value with its texts passed through `show`; not validated again, since names may be longer than stand-ins."""
    if isinstance(value, str):
        return show(value)
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: _show_in(part, show) for name, part in value})
    if isinstance(value, Mapping):
        return {name: _show_in(part, show) for name, part in value.items()}
    return [_show_in(part, show) for part in value] if isinstance(value, list | tuple) else value
