"""The log of decisions: a process that is killed loses no act that it told of, and of two on one cell one is first."""

import os
import signal
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from storage import database, scores
from storage.scores import Decision, DecisionKind, add_decision
from tests.storage.killed import kill_at_statement


def decision(reason: str, follows: int = 0, criterion: str = "c1") -> Decision:
    fields: dict[str, Any] = {
        "batch": "b",
        "domain": "d",
        "criterion_id": criterion,
        "kind": DecisionKind.COMMENT,
        "run_id": "r",
    }
    return Decision(by="ann", reason=reason, follows=follows, **fields)


def reasons() -> list[str]:
    with database.reading() as session:
        return [one.reason for one in scores.decisions_of(session, "b")]


def test_a_killed_process_loses_no_act_that_it_told_of(home: Path) -> None:
    for kill in range(23):  # at each of the first statements
        told, tell = os.pipe()
        database.close()
        child = os.fork()
        if child == 0:
            kill_at_statement(2 + kill)
            for number in range(8):
                with database.writing() as session:
                    add_decision(session, decision(f"{kill}-{number}", criterion=f"c{kill}-{number}"))
                os.write(tell, f"{kill}-{number} ".encode())
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(tell)
        os.waitpid(child, 0)
        with os.fdopen(told) as pipe:
            assert set(pipe.read().split()) <= set(reasons())
    assert len(reasons()) > 23


def test_of_two_on_one_cell_one_is_first_and_the_other_is_refused(database_url: str) -> None:
    at_once, results = Barrier(8), list[bool]()

    def decide(number: int) -> None:
        at_once.wait()
        with database.writing() as session:
            results.append(add_decision(session, decision(str(number))))

    threads = [Thread(target=decide, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 7 + [True]
    assert len(reasons()) == 1
