"""What an AI server is able to do, found out by asking and kept for as long as the process lives.

One record for each address and model, shared by all that ask there: whoever finds out first, finds out for all.
"""

from dataclasses import dataclass, field
from enum import Enum
from threading import Lock


class Way(Enum):
    """How to ask. The first and the last are also for free text; the others are ways to ask for JSON."""

    RESPONSES = "the Responses protocol, with the schema"
    SCHEMA = "a chat completion with the schema"
    OBJECT = "a chat completion in JSON mode"
    CHAT = "a chat completion with the schema in words only"

    @property
    def path(self) -> str:
        return "responses" if self is Way.RESPONSES else "chat/completions"

    @property
    def json_only(self) -> bool:
        return self in {Way.SCHEMA, Way.OBJECT}


@dataclass
class Abilities:
    """What is known of a model at an address.

    Attributes:
        lacking: ways of asking that it does not know.
        old_limit: it takes `max_tokens` where newer servers take `max_completion_tokens`.
        window: tokens that it takes at once; None until it has shown them.
        cuts: it shortens a prompt beyond its window without a word.
        counts: it tells how many tokens a call took; False once it did not.
    """

    lacking: set[Way] = field(default_factory=set)
    old_limit: bool = False
    window: int | None = None
    cuts: bool = False
    counts: bool = True
    _lock: Lock = field(default_factory=Lock, repr=False)

    def lacks(self, ways: set[Way]) -> None:
        """Another way worked where these did not."""
        with self._lock:
            self.lacking = self.lacking | ways  # a new set: others may be reading the old one

    def start_anew(self) -> None:
        """No way works any more: the server may have become another one."""
        with self._lock:
            self.lacking = set()

    def narrow(self, window: int, *, cuts: bool = False) -> None:
        """It has shown that it takes no more than `window` tokens at once."""
        with self._lock:
            self.window = window if self.window is None else min(window, self.window)
            self.cuts = self.cuts or cuts

    def tells_no_counts(self) -> bool:
        """Note that it does not count; True for the first who says so."""
        with self._lock:
            first, self.counts = self.counts, False
            return first


_known: dict[tuple[str, str], Abilities] = {}
_lock = Lock()


def abilities_of(address: str, model: str) -> Abilities:
    """The record of that model at that address."""
    with _lock:
        return _known.setdefault((address, model), Abilities())


def forget(address: str) -> None:
    """Know nothing about an address any more, as when another server has taken it."""
    with _lock:
        for each in [each for each in _known if each[0].rstrip("/") == address.rstrip("/")]:
            del _known[each]
