"""What is read from a model's answers: one answer of many parts, one JSON object, and what the model can do.

Sources that are longer than the model accepts at once are read completely, part by part. The model is asked, for each
part, what it says about the question, many parts side by side. The answer is made from the notes of all parts, in
several steps if the notes are too long themselves. Nothing is left out: a part that the model does not read makes the
whole answer fail.

Of an answer the one JSON object is read that was asked for. Small and local models add keys, wrap the object in
another, write words around it, or leave a comma too many. Such an answer is read where it is certain what is meant:

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

What a model at an address has shown that it can do is one record for each, kept as long as the process lives. Threads
share it and change it without a lock. What is lost when two of them learn something at the same moment is learned again
from a later answer.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from json import JSONDecodeError, JSONDecoder
from threading import Lock
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, ValidationError

from tasks.ai.answerer import AnswererFailed, Source
from tasks.ai.calls import NOTHING, Messages, notes_prompt, part_prompt
from tasks.ai.openai.errors import ContextWindowExceeded, Option
from tasks.ai.openai.protocols import Reply, RequestFormat
from tasks.cancellation import FanOut, Leave
from tasks.errors import TooLarge
from tasks.language.words import most_model_tokens
from tasks.spending.money import Usage

MOST_PARTS: Final = 200  # calls that a single question may cost; at 8 side by side and 5 s each two minutes
_BYTES: Final = 2.3  # in a token, at the fewest
_LONGEST_ANSWER: Final = 4096  # tokens reserved for an answer, or a quarter of the window
_SMALLEST: Final = 512  # tokens; in a smaller window nothing is left beside the rules
_SHORTER: Final = 0.9  # of their length is the most that notes may have after they were joined
_DENSEST: Final = 2_000  # bytes; a part of fewer is not halved
_BORDERS: Final = ("\f", "\n\n", "\n", ". ", "。", " ")  # pages, paragraphs, lines, sentences, words: the best first
_FRAME: Final = 160  # bytes around a source's text in a prompt, besides its name and place
_SMALLEST_PART: Final = 64  # bytes of text that are worth a place in a part

log = logging.getLogger(__name__)


class LongContext:
    """One question about sources that are too long. `ask` calls the model; `at_once` calls run side by side.

    `parts` is the number of parts that were read, `window` the tokens that they were cut for.
    """

    def __init__(self, ask: Callable[[Messages], Reply], question: str, at_once: int) -> None:
        self._ask = ask
        self._question = question
        self._at_once = at_once
        self._lock = Lock()
        self._usage = Usage()
        self._is_cut = False
        self.window = 0
        self.parts = 0

    def answer(self, sources: Sequence[Source], window: int) -> Reply:
        """The answer from everything that the sources say, for a model that takes `window` tokens at once, or fewer.

        Raises:
            TooLarge: they are too long even for that.
            AnswererFailed: a part was not answered; the error holds the usage of all calls.
            tasks.errors.DiligenceError: the model could not be called.
        """
        try:
            text = self._answer_from(self._take_notes(sources, window))
        except (AnswererFailed, ContextWindowExceeded) as failure:
            failure.usage += self._usage
            raise
        return Reply(text, self._usage, is_cut=self._is_cut)

    def _take_notes(self, sources: Sequence[Source], window: int) -> list[str]:
        """The notes on all parts. The first part shows how much fits into the model's window."""
        while True:
            parts = self._divide(sources, window)
            self.window, self.parts = window, len(parts)
            try:
                first = self._note(parts[0], 1, may_halve=False)
                break
            except ContextWindowExceeded as error:
                self._count(error.usage)
                window = min(error.window or window, window // 2)
        log.info("The context is longer than the model accepts at once and is read in %d parts.", len(parts))
        rest = self._side_by_side([partial(self._note, part, number) for number, part in enumerate(parts[1:], 2)])
        return [note for note in (first, *rest) if note]

    def _divide(self, sources: Sequence[Source], window: int) -> list[list[Source]]:
        room = self._room(window, part_prompt(self._question, [], MOST_PARTS, MOST_PARTS))
        if measure_sources(sources) > room * MOST_PARTS:
            raise TooLarge(
                f"The context is too long: the model takes about {window} tokens at once, and no more than "
                f"{MOST_PARTS} parts are read. Shorten it to {_for_people(room * MOST_PARTS)}, or name a model with a "
                "larger window in DILIGENCE_AI_MODEL."
            )
        return list(cut(sources, room))

    def _room(self, window: int, frame: Messages) -> int:
        """How many bytes of text fit into the window beside the rules, the question and an answer.

        Raises:
            TooLarge: not even one byte fits.
        """
        rules = most_model_tokens(*(message["content"] for message in frame))
        room = window - rules - min(window // 4, _LONGEST_ANSWER)
        if room < _SMALLEST // 4:
            raise TooLarge(
                f"The model takes about {window} tokens at once, which leaves no room for a text beside the question "
                "and its rules. Raise the server's context size, or name another model in DILIGENCE_AI_MODEL."
            )
        return int(room * _BYTES)

    def _note(self, part: Sequence[Source], number: int, *, may_halve: bool = True) -> str:
        """The model's note on a part; empty if the part says nothing. A part with too many tokens is halved."""
        try:
            note = self._text(part_prompt(self._question, part, number, self.parts))
        except ContextWindowExceeded as error:
            halves = list(cut(part, measure_sources(part) // 2))
            if not may_halve or len(halves) == 1 or measure_sources(part) < _DENSEST:
                raise
            self._count(error.usage, parts=len(halves) - 1)
            return "\n".join(filter(None, (self._note(half, number) for half in halves)))
        return "" if note.strip(" .*\"'`\n").upper() == NOTHING else note

    def _answer_from(self, notes: Sequence[str]) -> str:
        """The answer from the notes, which are shortened group by group until they fit."""
        room = self._room(self.window, notes_prompt(self._question, ""))
        before: float = float("inf")
        while True:
            text = "\n".join(notes) or "(No part says anything that bears on the question.)"
            size = len(text.encode(errors="replace"))
            if size <= room:
                return self._text(notes_prompt(self._question, text))
            if size > before * _SHORTER:
                break
            before = size
            groups = ["".join(source.text for source in group) for group in cut([Source(1, "", None, text)], room)]
            fewer = [notes_prompt(self._question, group, fewer=True) for group in groups]
            notes = self._side_by_side([partial(self._text, messages) for messages in fewer])
        raise TooLarge(
            "The context says too much about the question for the model to summarise. Ask for less at once, or "
            "name a model with a larger window in DILIGENCE_AI_MODEL."
        )

    def _text(self, messages: Messages) -> str:
        reply = self._ask(messages)
        self._count(reply.usage)
        self._is_cut |= reply.is_cut
        return reply.text

    def _count(self, usage: Usage, parts: int = 0) -> None:
        with self._lock:
            self._usage += usage
            self.parts += parts

    def _side_by_side(self, calls: Sequence[Callable[[], str]]) -> list[str]:
        """The results, in order. The first failure ends it; calls already under way are still counted."""
        with FanOut(min(self._at_once, len(calls)), "part", Leave.ON_INTERRUPT) as threads:
            return [future.result() for future in [threads.submit(call) for call in calls]]


def cut(sources: Sequence[Source], room: int) -> Iterator[list[Source]]:
    """The sources in parts of at most `room` bytes (UTF-8) each, counted as they appear in a prompt.

    Texts are cut at their own borders where possible. Nothing is left out or repeated, and each piece keeps its
    source's number, name and place.
    """
    part: list[Source] = []
    left = room
    for source in sources:
        frame = _measure_frame(source)
        start = 0
        while start < len(source.text) or not source.text:
            if part and left - frame < min(_SMALLEST_PART, _size(source.text[start : start + _SMALLEST_PART])):
                yield part
                part, left = [], room
            end = start + _count_fitting(
                source.text, start, left - frame if part else max(left - frame, _SMALLEST_PART)
            )
            text = source.text[start:end]
            part.append(replace(source, text=text))
            left -= frame + _size(text)
            start = end
            if start >= len(source.text):
                break
            yield part
            part, left = [], room
    if part:
        yield part


def measure_sources(sources: Sequence[Source]) -> int:
    """Bytes that the sources take in a prompt."""
    return sum(_size(source.text) + _measure_frame(source) for source in sources)


def _measure_frame(source: Source) -> int:
    """How many bytes a source takes up in a prompt apart from its text."""
    return _FRAME + 2 * (_size(source.name) + _size(source.place or ""))


def _count_fitting(text: str, start: int, room: int) -> int:
    """How many characters from `start` on fit into `room` bytes, up to the best border in their second half."""
    piece = text[start : start + room]
    encoded = piece.encode(errors="replace")
    if len(encoded) <= room and start + len(piece) == len(text):
        return len(piece)
    piece = encoded[:room].decode(errors="ignore")
    for border in _BORDERS:
        at = piece.rfind(border, len(piece) // 2)
        if at >= 0:
            return at + len(border)
    return max(len(piece), 1)


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _for_people(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB" if size >= 1024 * 1024 else f"{size // 1024} KB"


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


E = TypeVar("E", bound=Enum)


def _by_name(kind: type[E], value: E | str) -> E:
    return kind[value] if isinstance(value, str) else value


_AS_NAME: Final = PlainSerializer(lambda member: member.name, return_type=str)
_Format = Annotated[RequestFormat, BeforeValidator(partial(_by_name, RequestFormat)), _AS_NAME]
_Option = Annotated[Option, BeforeValidator(partial(_by_name, Option)), _AS_NAME]


class Capabilities(BaseModel):
    """What is known about a model at an address.

    Attributes:
        unsupported: request formats that it does not know.
        works: request formats in which it has answered.
        keeps: the request format in which its first small answer kept to the schema; None where it never did.
        loose: request formats in which it answered in words although a schema went along.
        refused: parts of a request that it does not take.
        thinks: its thoughts count as a part of the answer, which needs a higher limit.
        window: tokens that it takes at once; None until it has shown them.
        truncates: it shortens a prompt beyond its window without an error.
        counts: it gives the tokens that a call took; False once it did not.
        slots: requests that it answers side by side; None until it has said so.
        reading: tokens a second, of the fastest answer: others wait for the model to load, or for a free slot. None
            until an answer was measured.
        writing: tokens a second of late, with what else the server had to do. None until an answer was measured.
        written: tokens that were measured.
        models: the names of those that its address has, as far as it lists them.
        servers: what answers were said to come from: one model, unless several servers share the address.
        known: it was asked what it is able to do, now or by an earlier process.
    """

    unsupported: set[_Format] = Field(default_factory=set)
    works: set[_Format] = Field(default_factory=set)
    keeps: _Format | None = None
    loose: set[_Format] = Field(default_factory=set)
    refused: set[_Option] = Field(default_factory=set)
    thinks: bool = False
    window: int | None = None
    truncates: bool = False
    counts: bool = True
    slots: int | None = None
    reading: float | None = None
    writing: float | None = None
    written: int = 0
    models: tuple[str, ...] = ()
    servers: set[str] = Field(default_factory=set, exclude=True)
    known: bool = Field(default=False, exclude=True)

    def refuse(self, option: Option, sent_without: Collection[Option]) -> bool:
        """Record that the server refuses a part of a request; False if the request went out without it already.

        Without the newer name of the limit the older one is sent, and without that none.
        """
        if option is Option.COMPLETION_LIMIT and option in sent_without:
            option = Option.LIMIT
        self.refused.add(option)
        return option not in sent_without

    def reset_formats(self) -> None:
        """Forget which formats work: another server may have taken the address."""
        for learned in (self.unsupported, self.works, self.loose, self.refused):
            learned.clear()

    def narrow_window(self, window: int, *, truncates: bool = False) -> None:
        """Record that the model takes no more than `window` tokens at once."""
        self.window = window if self.window is None else min(window, self.window)
        self.truncates = self.truncates or truncates

    def note_server(self, server: str) -> bool:
        """Record which model an answer came from; True the first time that it differs from before."""
        is_new = bool(server) and server not in self.servers and len(self.servers) < _MOST_SERVERS
        if is_new:
            self.servers.add(server)
        return is_new and len(self.servers) == 2

    def note_speed(self, read: int, waited: float, written: int, seconds: float) -> None:
        """Record how fast an answer came: `read` tokens before its first piece, `written` tokens until its end."""
        if read >= _COUNTS and waited > 0:
            self.reading = max(self.reading or 0.0, read / waited)
        if written >= _COUNTS and seconds > 0:
            before = min(self.written, _REMEMBERED)
            self.writing = (before + written) / (before / (self.writing or 1.0) + seconds)
            self.written += written

    def load(self, stored: Mapping[str, Any]) -> None:
        """Take over what another process found out, as `model_dump` gave it in JSON."""
        found = Capabilities.model_validate({**stored, "known": True})
        for name in found.model_fields_set:
            setattr(self, name, getattr(found, name))


_MOST_SERVERS: Final = 4  # that are told apart
_COUNTS: Final = 8  # tokens; fewer say nothing of a speed
_REMEMBERED: Final = 500  # tokens before an answer, at most, that count for the speed beside its own

_capabilities: Final[dict[tuple[str, str], Capabilities]] = {}


def find_capabilities(address: str, model: str) -> Capabilities:
    """The record of that model at that address."""
    return _capabilities.setdefault((address, model), Capabilities())


def forget(address: str) -> None:
    """Drop the records of an address, for example when another server has taken it."""
    for key in [key for key in list(_capabilities) if key[0].rstrip("/") == address.rstrip("/")]:
        del _capabilities[key]
