"""What goes wrong on purpose: each fault for chosen calls, told as data so that another process can set it."""

from email.utils import formatdate
from html import escape
from time import time
from typing import Literal

import msgspec

from tests.google.answers import Answer
from tests.google.parameters import Parameters
from tests.google.refusals import REASONS, refused


class Fault(msgspec.Struct, kw_only=True):
    """One kind of trouble.

    `on` is a method (`files.list`, `files.get`, `files.media`, `files.export`, `batch`, `token`, …) or `*`
    for all of the Drive API. It strikes at every `every`th call of those, or at the numbers in `at` (from 1),
    and at most `times` times. `file` narrows it to one file, `given` to calls whose parameters hold these texts
    (`{"orderBy": "createdTime"}`, `{"pageToken": ""}` for all that have one).

    A page token can be refused for any reason, and is then to be discarded (`FileList.nextPageToken` in Google's
    reference of files.list): `Fault(given={"pageToken": ""}, reason="invalid")`, or `"gone"` for 410.
    """

    do: Literal["refuse", "reset", "reset_body", "truncate", "drip", "corrupt", "delay"] = "refuse"
    on: str = "*"
    every: int = 1
    at: list[int] | None = None
    times: int | None = None
    file: str | None = None
    given: dict[str, str] = {}
    # for `refuse`
    reason: str = "backendError"
    status: int | None = None
    retry_after: float | None = None  # seconds
    retry_after_date: bool = False  # told as an HTTP date
    html: bool = False
    # for `drip` (how long the body takes) and `delay`
    seconds: float = 1


class Faults:
    """The faults that are set, and how often each has been passed."""

    def __init__(self) -> None:
        self._set: list[tuple[Fault, list[int]]] = []

    def set(self, *faults: Fault) -> None:
        """Replaces all faults; without any, nothing goes wrong."""
        self._set = [(fault, [0, 0]) for fault in faults]

    def add(self, fault: Fault) -> None:
        self._set.append((fault, [0, 0]))

    @property
    def struck(self) -> int:
        """How often any fault has struck."""
        return sum(struck for _, (_, struck) in self._set)

    def next(
        self, method: str, file: str | None, parameters: Parameters, *, api: bool = True, inner: bool = False
    ) -> Fault | None:
        """The fault that strikes this call; of a part of a batch only refusals."""
        found = None
        for fault, seen in self._set:
            if fault.on != method and not (fault.on == "*" and api):
                continue
            if (fault.file and fault.file != file) or (inner and fault.do != "refuse"):
                continue
            if any((value := parameters.text(name)) is None or text not in value for name, text in fault.given.items()):
                continue
            seen[0] += 1
            due = seen[0] in fault.at if fault.at is not None else seen[0] % fault.every == 0
            if found is None and due and (fault.times is None or seen[1] < fault.times):
                seen[1] += 1
                found = fault
        return found


def refusal(fault: Fault, clock_ahead: float = 0) -> Answer:
    """The error that a fault answers with."""
    headers = {}
    if fault.retry_after is not None:
        when = formatdate(time() + clock_ahead + fault.retry_after, usegmt=True) if fault.retry_after_date else None
        headers["retry-after"] = when or f"{fault.retry_after:g}"
    error = refused(fault.reason, fault.status, headers)
    if fault.html:
        message = REASONS.get(fault.reason, (0, "", fault.reason))[2]
        page = f"<html lang=en><title>Error {error.status}</title><p><b>{error.status}.</b> {escape(message)}".encode()
        return Answer(error.status, page, {**headers, "content-type": "text/html; charset=UTF-8"}, len(page))
    body = error.body()
    return Answer(error.status, body, {**headers, "content-type": "application/json; charset=UTF-8"}, len(body))
