"""The one JSON object that a model was asked for, read from the answer that it gave.

Small and local models add keys, wrap the object in another, write words around it, or leave a comma too many. Such an
answer is read where it is certain what is meant:

- Exactly one object of the answer fits the schema (keys that the schema does not know are left out). Two that differ
  are not certain, nor is an object with the same key twice.
- An object of the texts that are judged is not the model's, though it fits: a document may show one, and an answer
  may quote it.
- Faults are mended by `json_repair` where the object has its end. Of json_repair 0.64, dirtyjson 1.0, json5 0.17 and
  partial-json-parser 0.2 it reads the most (`tests/tasks/ai/openai/test_json_answer.py` has the cases). What was cut
  off is never completed.
- In reasoning (`reasoning` of vLLM and Ollama, `reasoning_content` of older ones:
  https://docs.vllm.ai/en/latest/features/reasoning_outputs/) only the end counts, and only where no answer stands
  beside it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)

_MOST_STARTS = 200  # braces at which an object is looked for
_LONGEST = 200_000  # characters in which an object is looked for; an answer that is JSON as a whole may be longer
_LONGEST_TO_MEND = 50_000
_DEEPEST = 6  # objects around the one that was asked for
_FIGURES = re.compile(r"\d")
_FENCE_END = re.compile(r"[\s`]*\Z")


class Misfit(Exception):
    """The answer does not clearly say what was asked for.

    `problems` are for the model to read; `is_prose` means that it has words and no object at all.
    """

    def __init__(self, problems: list[str], *, is_prose: bool = False) -> None:
        super().__init__("no certain JSON")
        self.problems = problems
        self.is_prose = is_prose


class _SameKeyTwice(ValueError):
    pass


def read_object(texts: Iterable[str], schema: type[T], material: str, reasoning: str = "") -> T:
    """The object in the texts of an answer, or else at the end of the reasoning.

    Args:
        texts: the answer, or the arguments of the tools that were called in its place.
        schema: what the object must fit.
        material: what the model was given to judge.
        reasoning: what the model thought, where it gave no answer.

    Raises:
        Misfit: there is none, or not one alone.
    """
    texts = [text if _is_json(text) else text[:_LONGEST] for text in texts if text.strip()]
    try:
        values = [value for text in texts for value, _ in _values(text)]
        foreign = [value for value, _ in _values(material)] if "{" in material else []
        fitting = _find_fitting(values, schema, foreign)
        if not fitting:
            mended = [value for text in texts for value in _mend(text)]
            fitting = _find_fitting(mended, schema, foreign)
        if not fitting and not texts:
            ends = [value for value, end in _values(reasoning) if _FENCE_END.match(reasoning, end)]
            fitting = _find_fitting(ends, schema, foreign)
    except _SameKeyTwice:
        raise Misfit(["a key stands twice in the object"]) from None
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Misfit(["there is more than one object, and they differ"])
    raise Misfit(
        _problems(values, texts, schema),
        is_prose=bool(texts) and not any("{" in text or _is_json(text) for text in texts),
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (JSONDecodeError, RecursionError):
        return False
    return True


def _values(text: str) -> Iterator[tuple[Any, int]]:
    """The outermost JSON objects and lists in a text, each with its end."""
    decoder = JSONDecoder(strict=False, object_pairs_hook=_unique)  # with line breaks in texts
    if text.lstrip().startswith('"'):
        try:
            inner = json.loads(text)
        except (JSONDecodeError, RecursionError):
            pass
        else:
            yield from ((value, len(text)) for value, _ in _values(inner))
            return
    at = 0
    for _ in range(_MOST_STARTS):
        start = min((found for found in (text.find("{", at), text.find("[", at)) if found >= 0), default=-1)
        if start < 0:
            return
        try:
            value, at = decoder.raw_decode(text, start)
        except (JSONDecodeError, RecursionError):
            at = start + 1
        else:
            yield value, at


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _SameKeyTwice
    return value


def _mend(text: str) -> Iterator[Any]:
    """The object from the first brace to the last, with its faults repaired."""
    from json_repair import loads  # noqa: PLC0415 - few answers need it

    written = text[text.find("{") : text.rfind("}") + 1]
    if not written or len(written) > _LONGEST_TO_MEND:
        return
    try:
        mended = loads(written, skip_json_loads=True)
        figures = _FIGURES.findall(json.dumps(mended, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return
    if figures == _FIGURES.findall(written):  # `2+2` would become 2
        yield mended


def _find_fitting(values: Iterable[Any], schema: type[T], foreign: list[Any]) -> list[T]:
    """The distinct objects among or inside the values that match the schema and are not foreign."""
    distinct: list[T] = []
    for value in values:
        for candidate in _objects(value, schema):
            if candidate not in foreign and (fit := _fit(candidate, schema)) is not None and fit not in distinct:
                distinct.append(fit)
    return distinct


def _objects(value: Any, schema: type[BaseModel], depth: int = 0) -> Iterator[dict[str, Any]]:
    """The outermost objects in a value that match the schema."""
    if isinstance(value, dict) and _fit(value, schema) is not None:
        yield value
    elif depth < _DEEPEST and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _objects(inner, schema, depth + 1)


def _fit(value: dict[str, Any], schema: type[T]) -> T | None:
    names = {*schema.model_fields, *(field.alias for field in schema.model_fields.values())}
    if not names & value.keys():
        return None
    try:
        return schema.model_validate_json(json.dumps(value), extra="ignore")
    except ValueError:
        return None


def _problems(values: list[Any], texts: list[str], schema: type[BaseModel]) -> list[str]:
    """What is wrong with the answer's largest object, or with the whole answer if it has none."""
    written = max((json.dumps(value) for value in values), key=len, default="".join(texts))
    try:
        schema.model_validate_json(written, extra="ignore")
    except ValidationError as misfit:
        errors = misfit.errors(include_url=False, include_context=False, include_input=False)[:8]
        return [f"{'.'.join(map(str, error['loc'])) or 'the answer'}: {error['msg']}" for error in errors]
    return ["the object is not your own"]
