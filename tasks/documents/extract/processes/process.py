"""One reading process as its parent sees it: what it was given, where it stands, how it ends."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from tasks.documents.extract.processes import worker
from tasks.documents.extract.processes.forking import ReaderContext
from tasks.documents.extract.processes.job import Job


class ReadingProcess:
    """A process that reads up to `documents` documents, one after the other. One thread uses it.

    `given` are those that it has, by the number that they have in its life; `seconds` it has been seen at
    the one in work.
    """

    def __init__(
        self,
        context: ReaderContext,
        read: worker.Read,
        load: worker.Load | None,
        limits: worker.Limits,
        documents: int,
    ) -> None:
        """Start it; the first one of a program waits for the fork server, 0.3 s, another takes 10 ms.

        Raises:
            OSError, EOFError: it does not start.
        """
        self.given: dict[int, Job] = {}
        self.seconds = 0.0
        self.fruitful = False
        self._documents = documents
        self._next = 0
        self._seen, self._since = worker.NOTHING, 0.0
        self._board = context.RawValue(worker.Board, worker.NOTHING, 0)
        self.connection, theirs = context.Pipe()
        arguments = (read, load, limits, documents, theirs, self._board)
        self._process = context.Process(target=worker.serve, args=arguments, name="reader", daemon=True)
        try:
            self._process.start()
        except BaseException:
            self.connection.close()
            raise
        finally:
            theirs.close()

    @property
    def sentinel(self) -> int:
        """The descriptor that can be read from once the process has ended."""
        return self._process.sentinel

    @property
    def fresh(self) -> bool:
        """Whether it was never given anything."""
        return self._next == 0

    @property
    def room(self) -> int:
        """How many documents it may still be given in its life."""
        return self._documents - self._next

    def look(self, now: float) -> Job | None:
        """See what it is reading; `now` in seconds, as all times here."""
        at = self._board.at
        if at != self._seen:
            self._seen, self._since = at, now
        self.seconds = now - self._since if at != worker.NOTHING else 0.0
        return self.given.get(at)

    def hand(self, jobs: Sequence[Job]) -> None:
        """Give it documents to read.

        Raises:
            OSError: it has ended.
        """
        numbered = dict(enumerate(jobs, self._next))
        self._next += len(jobs)
        self.given.update(numbered)
        self.connection.send([(number, str(job.path), job.extension) for number, job in numbered.items()])

    def receive(self) -> list[tuple[Job, worker.Outcome, bool]]:
        """What became of documents, and whether each was the first that the process read; waits when nothing did.

        Raises:
            Exception: it has ended, or talks nonsense.
        """
        outcomes = worker.received(self.connection.recv_bytes())
        self.fruitful = True
        return [(self.given.pop(number), outcome, number == 0) for number, outcome in outcomes if number in self.given]

    def take_back(self) -> list[Job]:
        """All that it was given, but for what it is reading, to give it to another.

        It may have begun the next one a moment ago, or left that one alone: then it says so.
        """
        self._board.left = self._next
        at = self._board.at
        back = [job for number, job in self.given.items() if number != at]
        self.given = {number: job for number, job in self.given.items() if number == at}
        return back

    def take_from_work(self) -> tuple[Job | None, bool]:
        """Take what it is reading from it; whether that was the first that it read."""
        at = self._board.at
        return self.given.pop(at, None), at == 0

    def end(self) -> int | None:
        """End it and all that it has started, at once; gives its exit code, None when it does not go."""
        assert self._process.pid is not None
        for kill in (os.killpg, os.kill):
            with suppress(OSError):
                kill(self._process.pid, signal.SIGKILL)
        self._process.join(1)
        code = self._process.exitcode
        self.connection.close()
        if code is not None:
            self._process.close()
        return code
