"""Whether the tests would notice a mistake: seeded changes of one clause each, and how many the area's own tests catch.

    python -m tests.mutate                      sixty changes, five in each of twelve areas
    python -m tests.mutate --seed 2 --each 3 tasks/figures tasks/reading

A change is made in a copy of the working tree, and the tests of its area run until the first failure, those first that
name the changed module. They run in a process forked from this one, which has imported all libraries and nothing of
ours. The tests of `tasks/AREA` are `tests/tasks/AREA`, of the other packages `tests/NAME`, and those of `_ELSEWHERE`.
What no test of the area noticed is printed with its place. Some changes alter nothing that a user could see, so the
share is a lower bound. A test that fails without the change too notices nothing.
"""

import argparse
import ast
import importlib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
AREAS: Final = (
    *(f"tasks/{name}" for name in ("ai", "companies", "documents", "evidence", "figures", "language", "ranking")),
    *(f"tasks/{name}" for name in ("reading", "reports", "scoring", "statements")),
    "storage",
)
_ELSEWHERE: Final = {
    "storage": ("tests/flows/test_queue.py",),
    "tasks/evidence": ("tests/tasks/reports/test_evidence.py",),
    "tasks/reports": ("tests/api/pages/test_tables.py", "tests/api/test_runs.py"),
}
"""Tests of an area that stand in another: runs hold locks, reports have evidence, and the service shows its rooms."""
_OURS: Final = {"api", "deployments", "diligence", "flows", "storage", "tasks", "tests"}
_LIMIT: Final = 600  # seconds for an area's tests; a change that makes them hang is noticed
_PAIRS: Final = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot))
_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = dict([*_PAIRS, *(pair[::-1] for pair in _PAIRS)])


@dataclass(frozen=True)
class Change:
    """One clause of a module, and what it becomes."""

    path: str
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  →  {self.after}"


def clauses(path: Path) -> Iterator[tuple[Path, ast.expr, ast.expr]]:
    """Every clause of that module that is changed here, with what it becomes."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.expr) and node.lineno == node.end_lineno and (after := _changed(node)) is not None:
            yield path, node, after


def _change(path: Path, node: ast.expr, after: ast.expr) -> Change:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    line = lines[node.lineno - 1].encode()  # `ast` counts columns in bytes
    before, becomes = line[node.col_offset : node.end_col_offset].decode(), ast.unparse(after)
    changed = line[: node.col_offset] + f"({becomes})".encode() + line[node.end_col_offset :]
    lines[node.lineno - 1] = changed.decode()
    return Change(path.relative_to(ROOT).as_posix(), node.lineno, before, becomes, "".join(lines))


def _changed(node: ast.expr) -> ast.expr | None:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _OPPOSITES:
            return ast.Compare(left, [_OPPOSITES[type(operator)]()], [right])
        case ast.BoolOp(operator, values):
            return ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
    return None


def chosen(area: str, number: int, seed: int) -> list[Change]:
    """So many changes of that area, by chance from the seed."""
    every = [clause for path in sorted((ROOT / area).rglob("*.py")) for clause in clauses(path)]
    return [_change(*clause) for clause in random.Random(f"{area} {seed}").sample(every, min(number, len(every)))]


class _Failures:
    """A plugin of pytest that keeps the ids of the tests and modules that failed."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            self.ids.append(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport


def _run(copy: Path, arguments: Sequence[str], sender: Connection) -> None:
    """In a process of its own: run pytest on the copy, and send what failed and which libraries are imported."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.chdir(copy)
    os.environ["PYTHONPATH"] = sys.path[0] = str(copy)
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]
    failures = _Failures()
    options = ["-x", "-m", "not slow and not nightly", "-p", "no:cacheprovider"]
    pytest.main([*options, "-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments], plugins=[failures])
    sender.send((failures.ids, [name for name in sys.modules if name.partition(".")[0] not in _OURS]))


def _run_forked(copy: Path, *arguments: str) -> tuple[list[str], list[str]] | None:
    """The ids of what failed, and the libraries that the tests imported; None where the tests did not end."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_run, args=(copy, arguments, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(_LIMIT) else None
    except EOFError:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.ident or 0, signal.SIGKILL)
        process.join()


def is_noticed(change: Change, copy: Path, area: str) -> bool:
    """Whether a test of the change's area fails in that copy of the tree, and passes there without the change."""
    module = copy / change.path
    original = module.read_text("utf-8")
    name, beside = change.path.removesuffix(".py").replace("/", "."), f"tests/{Path(change.path).parent}"
    files = [*(copy / "tests" / area).rglob("test_*.py"), *(copy / each for each in _ELSEWHERE.get(area, ()))]
    tests = {file.relative_to(copy).as_posix(): name in file.read_text("utf-8") for file in files}
    try:
        module.write_text(change.source, "utf-8")
        done = _run_forked(copy, *sorted(tests, key=lambda file: (not tests[file], beside not in file, file)))
    finally:
        module.write_text(original, "utf-8")
    if done is None or not done[0]:
        return done is None
    alone = _run_forked(copy, *done[0])
    return alone is not None and not alone[0]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was not noticed, and the share that was, by area and in all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", default=AREAS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5, help="changes in each area")
    options = parser.parse_args(arguments)
    noticed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache"))
        for area in options.areas:
            if (collected := _run_forked(copy, "--collect-only", f"tests/{area}")) is None or collected[0]:
                sys.exit(f"tests/{area} cannot be collected.")
            for library in collected[1]:
                with suppress(Exception):
                    importlib.import_module(library)
            changes = {change: is_noticed(change, copy, area) for change in chosen(area, options.each, options.seed)}
            print(f"{area:18} {sum(changes.values())} of {len(changes)}")
            for change in (change for change, is_seen in changes.items() if not is_seen):
                print(f"    not noticed: {change}", flush=True)
            noticed += changes.values()
    print(f"{'all':18} {sum(noticed)} of {len(noticed)}: {sum(noticed) / max(len(noticed), 1):.2f}")


if __name__ == "__main__":
    main()
