"""What can be set about the emulator while it runs, from the same process or another."""

from typing import Literal

import msgspec


class Settings(msgspec.Struct):
    """How the service behaves apart from faults; all of it is off by default."""

    latency: float = 0  # seconds before each answer
    parents_page_cap: int | None = None  # rows a page when `parents` is asked for; 460 has been reported
    empty_first_page: bool = False  # the first page has no rows, and a token for the next
    incomplete_search: bool = False  # what `incompleteSearch` says
    or_loss: Literal["none", "all", "some"] = "none"  # OR queries that lose all parents, or some of them
    or_loss_every: int = 5  # about every nth OR query loses, always the same ones
    or_loss_seed: int = 0
    quota: int | None = None  # calls that a user has in a window
    quota_window: float = 60  # seconds
    quota_status: int = 403
    quota_reason: str = "userRateLimitExceeded"
    quota_retry_after: bool = False
    quota_projects: list[str] | None = None  # those that calls have to name one of (x-goog-user-project)
    export_limit: int = 10 * 1024 * 1024  # bytes; files.export reference: "limited to 10 MB"
    export_moves_version: bool = False  # exporting a document raises its `version`: not documented either way
    operation_polls: int = 1  # how often an operation of files.download is still running when asked
    operation_error: int | None = None  # the code of google.rpc.Status that operations end with
    clock_ahead: float = 0  # seconds that its clock is ahead of ours: the Date of answers, and dates in Retry-After
    gzip: bool = False  # compress JSON for those who ask; costs the emulator time
