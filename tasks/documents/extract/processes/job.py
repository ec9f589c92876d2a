"""A document on its way through the pool: what may be spent on it, who waits for it, and how it ends for them."""

import logging
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from tasks.documents.extract.processes.worker import Failure, Limits
from tasks.documents.extract.reading import Reading
from tasks.errors import Damaged, DiligenceError, TookTooLong, Unavailable, Unreadable

logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Job:
    """A document of `size` bytes to read, and the future of its reading.

    With `suspected`, a process that had read others before ended on it, or ran out of memory.
    """

    path: Path
    extension: str
    size: int
    future: "Future[Reading]"
    suspected: bool = False

    def settle(self, outcome: Reading | DiligenceError) -> None:
        """Tell who waits, unless nobody does any more. Once."""
        if not self.future.set_running_or_notify_cancel():
            return
        if isinstance(outcome, Reading):
            self.future.set_result(outcome)
        else:
            self.future.set_exception(outcome)

    def dropped(self) -> bool:
        """Whether nobody wants it any more; then this was its end."""
        return self.future.cancelled() and not self.future.set_running_or_notify_cancel()

    def failed(self, failure: Failure, limits: Limits) -> None:
        """Its reader raised something."""
        if failure.error is not None:
            self.settle(failure.error)
        elif failure.cause == "MemoryError":
            self.settle(
                Unreadable(
                    f"Reading the document takes more than {limits.memory_mb} MB of memory "
                    "(DILIGENCE_DOCUMENT_MEMORY_MB)."
                )
            )
        else:
            logger.warning("The reader of %s failed with %s", self.extension, failure.cause)
            self.settle(Damaged("The document is damaged: its reader could not make sense of it. Ask for it again."))

    def timed_out(self, limits: Limits) -> None:
        """Its reader was not done in time."""
        self.settle(
            TookTooLong(f"Reading the document took longer than {limits.seconds:g} s (DILIGENCE_DOCUMENT_TIMEOUT).")
        )

    def crashed(self, status: int | None, limits: Limits) -> None:
        """Its reader's process ended with this status."""
        logger.warning("A reader of %s ended with status %s", self.extension, status)
        self.settle(
            Unreadable(
                "The document cannot be read: the reader crashed on it. It is damaged, or it needs more than "
                f"{limits.memory_mb} MB of memory (DILIGENCE_DOCUMENT_MEMORY_MB)."
            )
        )

    def shut_out(self) -> None:
        """The pool was closed."""
        self.settle(Unavailable("The readers were shut down. Try again."))

    def given_up(self) -> None:
        """No process starts that could read it."""
        self.settle(Unavailable("The readers are out of order. Try again."))
