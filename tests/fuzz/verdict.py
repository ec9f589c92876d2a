"""Whether a document's reading went as it should."""

import re
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from tasks.errors import DiligenceError, TookTooLong, TooLarge, Unreadable
from tasks.reading.text_writer import Reading
from tests.fuzz.promises import unclear
from tests.fuzz.watched import recorded


class Verdict(NamedTuple):
    """How a reading ended.

    `outcome` is `text`, `empty text` or the name of an error's class where it went as it should; else
    `hung`, `crashed`, `memory`, `unforeseen` (an exception that is no error of ours), `stumbled` (the same, but a
    second reader could read the file), `broken promise`, `contained` (a crash of PDFium's own, which its process
    kept to itself). `where` says where.
    """

    outcome: str
    where: str
    seconds: float
    peak_mb: float

    @property
    def fine(self) -> bool:
        """Whether it went as it should."""
        return self.outcome not in (
            "hung",
            "crashed",
            "memory",
            "unforeseen",
            "stumbled",
            "broken promise",
            "contained",
        )

    @property
    def kind(self) -> str:
        """What two findings have in common that are the same one: all but the lines' numbers."""
        return re.sub(r":\d+", "", f"{self.outcome} {self.where}").strip()


def judge(path: Path, extension: str, future: "Future[Reading]") -> Verdict:
    """The verdict on the reading of the document at `path` by `watched.read` in a pool. Waits for it."""
    message = ""
    error: DiligenceError | None = None
    try:
        future.result()
    except DiligenceError as raised:
        error, message = raised, raised.message
    ended, where = recorded(path)
    if isinstance(error, TookTooLong):
        return Verdict("hung", where, 0, 0)
    if ended is None:
        return Verdict("contained" if extension == ".pdf" else "crashed", where, 0, 0)
    seconds, peak_mb = ended["seconds"], ended["peak_mb"]
    if ended["outcome"] in ("memory", "unforeseen"):
        return Verdict(ended["outcome"], ended["where"], seconds, peak_mb)
    wrong = ended.get("wrong", [])
    if error is not None:
        wrong = [*unclear(message, path)]
        if not isinstance(error, (Unreadable, TooLarge)):
            wrong.append(f"raises {type(error).__name__}")
    if wrong:
        return Verdict("broken promise", ", ".join(wrong), seconds, peak_mb)
    if ended["stumbles"]:
        return Verdict("stumbled", ended["stumbles"][0], seconds, peak_mb)
    return Verdict(ended["outcome"], "", seconds, peak_mb)
