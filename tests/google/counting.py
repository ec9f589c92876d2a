"""What came in: requests, calls, bytes, token refreshes, and a log without tokens."""

from collections import Counter, deque
from typing import NamedTuple

import msgspec


class Logged(NamedTuple):
    """One call: its method of the API, its path without parameters, the user's address, the status."""

    method: str
    path: str
    user: str | None
    status: int


class Counts(msgspec.Struct):
    """Figures since the start or the last reset. Requests of the token endpoint stand apart."""

    requests: int = 0  # HTTP requests to the Drive API, a batch is one
    calls: int = 0  # calls, each part of a batch is one
    by_method: dict[str, int] = {}  # calls by method; `batch` counts the HTTP requests
    by_status: dict[int, int] = {}
    sent: int = 0  # bytes of bodies
    token_requests: int = 0
    tokens: int = 0  # tokens granted
    faults: int = 0
    most_at_once: int = 0  # requests under way at the same time


class Counting:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.requests = self.token_requests = self.tokens = self.sent = self.most_at_once = 0
        self.under_way = 0
        self.methods: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.log: deque[Logged] = deque(maxlen=200_000)

    def call(self, method: str, path: str, user: str | None, status: int) -> None:
        self.methods[method] += 1
        self.statuses[status] += 1
        self.log.append(Logged(method, path, user, status))

    def counts(self, faults: int) -> Counts:
        calls = sum(number for method, number in self.methods.items() if method not in {"batch", *_OAUTH})
        return Counts(
            self.requests, calls, dict(self.methods), dict(self.statuses), self.sent, self.token_requests,
            self.tokens, faults, self.most_at_once,
        )  # fmt: skip


_OAUTH = frozenset({"authorise", "token"})
