"""What a model at an address has shown that it can do: one record for each, kept as long as the process lives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from tasks.ai.openai.errors import Option
from tasks.ai.openai.protocols import RequestFormat


@dataclass
class Capabilities:
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
        models: the names of those that its address has, as far as it lists them.
        servers: what answers were said to come from: one model, unless several servers share the address.
        known: it was asked what it is able to do, now or by an earlier process.
    """

    unsupported: set[RequestFormat] = field(default_factory=set)
    works: set[RequestFormat] = field(default_factory=set)
    keeps: RequestFormat | None = None
    loose: set[RequestFormat] = field(default_factory=set)
    refused: set[Option] = field(default_factory=set)
    thinks: bool = False
    window: int | None = None
    truncates: bool = False
    counts: bool = True
    slots: int | None = None
    reading: float | None = None
    writing: float | None = None
    models: tuple[str, ...] = ()
    servers: frozenset[str] = frozenset()
    known: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def mark_working(self, request_format: RequestFormat, *, instead_of: Iterable[RequestFormat]) -> None:
        """Record that this format worked where those did not."""
        with self._lock:  # new sets: other threads may be reading the old ones
            self.works = self.works | {request_format}
            self.unsupported = self.unsupported | set(instead_of)

    def mark_unsupported(self, request_format: RequestFormat) -> None:
        """Record that the server does not know this format."""
        with self._lock:
            self.unsupported = self.unsupported | {request_format}

    def mark_loose(self, request_format: RequestFormat) -> None:
        """Record that the server accepted a schema in this format and did not keep to it."""
        with self._lock:
            self.loose = self.loose | {request_format}

    def refuse(self, option: Option) -> Option | None:
        """Record that the server refuses a part of a request; returns what is left out now, None if it was left out
        already.

        Without the newer name of the limit the older one is sent, and without that none.
        """
        with self._lock:
            if option is Option.COMPLETION_LIMIT and option in self.refused:
                option = Option.LIMIT
            if option in self.refused:
                return None
            self.refused = self.refused | {option}
            return option

    def mark_thinking(self) -> bool:
        """Record that the model's thoughts count as part of the answer; True the first time."""
        with self._lock:
            first, self.thinks = not self.thinks, True
            return first

    def reset_formats(self) -> None:
        """Forget which formats work: another server may have taken the address."""
        with self._lock:
            self.unsupported, self.works, self.loose, self.refused = set(), set(), set(), set()

    def narrow_window(self, window: int, *, truncates: bool = False) -> None:
        """Record that the model takes no more than `window` tokens at once."""
        with self._lock:
            self.window = window if self.window is None else min(window, self.window)
            self.truncates = self.truncates or truncates

    def note_server(self, server: str) -> bool:
        """Record which model an answer came from; True the first time that it differs from before."""
        with self._lock:
            before = self.servers
            if server and len(before) < _MOST_SERVERS:
                self.servers = before | {server}
            return len(before) == 1 and len(self.servers) == 2

    def note_speed(self, read: int, waited: float, written: int, seconds: float) -> None:
        """Record how fast an answer came: `read` tokens before its first piece, `written` tokens until its end."""
        with self._lock:
            if read >= _COUNTS and waited > 0:
                self.reading = max(self.reading or 0.0, read / waited)
            if written >= _COUNTS and seconds > 0:
                before = self.writing or written / seconds
                self.writing = (_REMEMBERED + written) / (_REMEMBERED / before + seconds)

    def as_json(self) -> dict[str, Any]:
        """What is worth keeping for other processes."""
        return {
            "unsupported": sorted(known.name for known in self.unsupported),
            "loose": sorted(known.name for known in self.loose),
            "works": sorted(known.name for known in self.works),
            "keeps": self.keeps and self.keeps.name,
            "refused": sorted(option.name for option in self.refused),
            **{name: getattr(self, name) for name in _PLAIN},
            "models": list(self.models),
        }

    def load(self, stored: Mapping[str, Any]) -> None:
        """Take over what `as_json` returned."""
        with self._lock:
            self.unsupported, self.loose, self.works = (
                {RequestFormat[name] for name in stored[key]} for key in ("unsupported", "loose", "works")
            )
            self.keeps = RequestFormat[stored["keeps"]] if stored["keeps"] else None
            self.refused = {Option[name] for name in stored["refused"]}
            for name in _PLAIN:
                setattr(self, name, stored[name])
            self.models = tuple(stored["models"])
            self.known = True

    def mark_uncounted(self) -> bool:
        """Record that the server does not count tokens; True the first time."""
        with self._lock:
            first, self.counts = self.counts, False
            return first


_MOST_SERVERS = 4  # that are told apart
_COUNTS = 8  # tokens; fewer say nothing of a speed
_REMEMBERED = 500  # tokens before an answer that count for the speed beside its own
_PLAIN = ("thinks", "window", "truncates", "counts", "slots", "reading", "writing")


_capabilities: dict[tuple[str, str], Capabilities] = {}
_lock = Lock()


def find_capabilities(address: str, model: str) -> Capabilities:
    """The record of that model at that address."""
    with _lock:
        return _capabilities.setdefault((address, model), Capabilities())


def forget(address: str) -> None:
    """Drop the records of an address, for example when another server has taken it."""
    with _lock:
        for key in [key for key in _capabilities if key[0].rstrip("/") == address.rstrip("/")]:
            del _capabilities[key]
