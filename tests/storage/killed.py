"""A program that makes a backup, restores it or prunes, and is killed at one moment after the other.

`python -m tests.storage.killed backup|restore|prune FILE` prints a line for each try: whether it was killed, and what
was found afterwards: the state before (`old`), that after (`new`), one between (`part`, where runs go one by one), or
`broken`.
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from storage import backup, database, documents, logins, pruning, runs, scores, texts
from storage.backup import restore
from storage.errors import DatabaseUnavailable
from storage.texts import StoredText
from tests.storage import filled

_FILES = {"open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "sqlite3.connect"}


def kill_at_file(nth: int) -> None:
    """End this process by a signal when it is about to touch a file for the nth time."""
    left = nth

    def watch(name: str, _arguments: Any) -> None:
        nonlocal left
        if name in _FILES:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def kill_at_statement(nth: int) -> None:
    """End this process by a signal when it is about to execute the nth statement."""
    _kill_at("before_cursor_execute", nth)


def kill_at_commit(nth: int) -> None:
    """End this process by a signal when it is about to commit the nth transaction."""
    _kill_at("commit", nth)


def _kill_at(moment: str, nth: int) -> None:
    left = nth

    def watch(*_arguments: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, moment, watch)


def outcome(work: Callable[[], object], kill: Callable[[int], None], nth: int) -> str:
    child = os.fork()
    if child == 0:
        kill(nth)
        work()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return "killed" if os.WIFSIGNALED(status) else "ended" if status == 0 else "failed"


def saved(file: Path) -> str:
    with backup.workspace(file.parent, "looked at") as folder:
        backup.unpack(file, folder)
        with closing(sqlite3.connect(folder / "diligence.db")) as connection:
            count = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    return {1: "old", 2: "new"}.get(count, "broken")


def restored(_file: Path) -> str:
    with database.reading() as session:
        found = logins.find_session(session, "cookie")
    if found is None or logins.unseal(found[1].refresh_token, "refresh") != filled.REFRESH_TOKEN:
        return "broken"
    return {("r1",): "new", ("r1", "r2"): "old"}.get(tuple(filled.run_ids()), "broken")


def pruned(_file: Path) -> str:
    with database.reading() as session:
        for run in filled.run_ids():
            (company,) = runs.run_companies(session, run)
            assert company.id is not None
            (document,) = documents.company_documents(session, company.id)
            (quotes,) = scores.outcome_quotes(session, company.id).values()
            if document.text_id is None or quotes[0].text_id != document.text_id:
                return "broken"
            if not texts.find_passages(session, [document.text_id], "cut-1"):
                return "broken"
        kept = len(session.exec(select(StoredText.id)).all())  # type: ignore[call-overload]
    return {(3, 3): "old", (1, 1): "new"}.get((len(filled.run_ids()), kept), "part")


def main(what: str, file: Path) -> None:
    """Try until the program comes to its end."""
    filled.fill()
    backup.make(file)
    step = 1
    work: Callable[[], object]
    look: Callable[[Path], str]
    if what == "backup":
        filled.add_finished("r2")
        work, kill, look = lambda: backup.make(file), kill_at_file, saved
    elif what == "restore":
        filled.add_finished("r2")
        work, kill, look = lambda: restore(file, replace=True), kill_at_file, restored
    else:
        for number in (2, 3):
            filled.add_finished(f"r{number}", document=f"d{number}", content=f"c{number}")
        work, kill, look, step = lambda: pruning.prune(1), kill_at_statement, pruned, 4
    for nth in range(1, 1000, step):
        database.close()
        ended = outcome(work, kill, nth)
        try:
            state = look(file)
        except (DatabaseUnavailable, backup.BackupUnusable):
            state = "broken"
        sys.stdout.write(f"{ended} {state}\n")
        sys.stdout.flush()
        if ended != "killed":
            return
        if state == "new" and what == "restore":  # all again, from the state before
            filled.add_finished("r2")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
