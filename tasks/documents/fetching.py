"""Fetching the documents of a batch: in this thread from a disk, in several at once from afar."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path

from tasks.documents.drive.drive import Drive, Fetched
from tasks.errors import DiligenceError

Fetch = Callable[[str], "Future[Fetched]"]
"""Has the document of an id fetched."""


@contextmanager
def fetching(drive: Drive, spool: Path, max_bytes: int) -> Iterator[Fetch]:
    """How documents come into the folder `spool`: as many at a time as the drive says it is worth.

    From a disk each is there when the call returns: threads would only take turns. The threads know what the
    caller knows (settings, whose account it is), and have ended when the block has.
    """
    if drive.side_by_side == 1:
        yield lambda document_id: _fetched_here(drive, document_id, spool, max_bytes)
        return
    threads = ThreadPoolExecutor(drive.side_by_side, thread_name_prefix="fetching")
    try:
        yield lambda document_id: threads.submit(copy_context().run, drive.fetch, document_id, spool, max_bytes)
    finally:
        threads.shutdown(cancel_futures=True)


def _fetched_here(drive: Drive, document_id: str, spool: Path, max_bytes: int) -> "Future[Fetched]":
    future: Future[Fetched] = Future()
    try:
        future.set_result(drive.fetch(document_id, spool, max_bytes))
    except DiligenceError as error:
        future.set_exception(error)
    return future
