"""Run tests side by side: `pytest --jobs 4` collects them once and forks four workers.

A worker that imports and collects for itself, as those of pytest-xdist do, takes 13 s of processor time and 800 MB
before its first test; a forked worker has all that already. The tests of a group run in one worker, in their order:
those of a module, whose fixtures are made once then, or those with the same name in the marker `group`. Needs `fork`.
"""

import atexit
import os
import random
from collections.abc import Iterator
from itertools import chain, pairwise
from multiprocessing.connection import Connection, Pipe, wait
from types import SimpleNamespace

import pytest

_DIGITS = 4
"""Bytes of a group's number in the queue, which is a pipe: what a worker takes from it no other can take."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--jobs", type=int, default=1, metavar="N", help="run the tests side by side in N forked workers")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in workers and report them as if they had run here; `None` leaves one job to pytest itself."""
    groups = collect_groups(session.items)
    jobs = min(session.config.option.jobs, len(groups))
    if jobs < 2 or session.config.option.collectonly or session.testsfailed:
        return None
    queue, rest = os.pipe()
    os.write(rest, b"".join(number.to_bytes(_DIGITS) for number in range(len(groups))))
    os.close(rest)
    folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    workers: dict[Connection, int] = {}
    for number in range(jobs):
        results, sender = Pipe(duplex=False)
        if not (process := os.fork()):
            for other in [results, *workers]:
                other.close()
            (own := folder / f"worker-{number}").mkdir()
            session.config._tmp_path_factory._basetemp = own  # type: ignore[attr-defined]
            _work(session, groups, queue, sender)
        sender.close()
        workers[results] = process
    missing = {item.nodeid: item for item in session.items}
    endings = []
    while workers:
        for ready in wait(list(workers)):
            assert isinstance(ready, Connection)
            try:
                data = ready.recv()
            except EOFError:
                endings.append(os.waitstatus_to_exitcode(os.waitpid(workers.pop(ready), 0)[1]))
                continue
            report = session.config.hook.pytest_report_from_serializable(config=session.config, data=data)
            if report.when == "teardown":
                missing.pop(report.nodeid, None)
            session.config.hook.pytest_runtest_logreport(report=report)
            if session.shouldfail or session.shouldstop:
                os.read(queue, _DIGITS * len(groups))  # no worker begins another group
    os.close(queue)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    for item in missing.values():
        reason = f"Not reported: workers ended with {sorted(set(endings))}, where a signal is a negative number."
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call")
        session.config.hook.pytest_runtest_logreport(report=report)
    return True


def collect_groups(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """The tests that stay in one worker, group by group.

    Groups with a name of their own come first: they wait for servers, and would be the last to end.
    """
    named: dict[str, list[pytest.Item]] = {}
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        if marker := item.get_closest_marker("group"):
            named.setdefault(marker.args[0], []).append(item)
        else:
            modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    return [*named.values(), *modules.values()]


def _work(session: pytest.Session, groups: list[list[pytest.Item]], queue: int, results: Connection) -> None:
    """Run groups until none is left, and end this process."""
    status = 1
    try:
        _report_to(results, session.config)
        random.seed()
        # A test is told which comes next, so that what both use stays: the next group is taken before its last test.
        for item, following in pairwise(chain(_take(groups, queue), [None])):
            assert item
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail or session.shouldstop:
                break
        session._setupstate.teardown_exact(None)
        status = 0
    finally:
        results.close()
        atexit._run_exitfuncs()
        os._exit(status)  # neither pytest's last words nor the parent's open files are for this process to finish


def _take(groups: list[list[pytest.Item]], queue: int) -> Iterator[pytest.Item]:
    while number := os.read(queue, _DIGITS):
        yield from groups[int.from_bytes(number)]


def _report_to(results: Connection, config: pytest.Config) -> None:
    """Send the parent what becomes of each test, in place of printing it; what tests print goes to files of our own."""

    class Sender:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            results.send(config.hook.pytest_report_to_serializable(config=config, report=report))

    writer = config.get_terminal_writer()  # to which pytest-timeout writes where a test stands
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(SimpleNamespace(_tw=writer), "terminalreporter")
    config.pluginmanager.register(Sender())
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
