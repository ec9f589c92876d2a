"""What a model at an address has shown that it can do: one record for each, kept as long as the process lives.

Threads share a record and change it without a lock. What is lost when two of them learn something at the same moment is
learned again from a later answer.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer

from tasks.ai.openai.errors import Option
from tasks.ai.openai.protocols import RequestFormat

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
