"""Whether the tests would notice a mistake: seeded changes of one clause each, and how many the area's own tests catch.

    python -m tests.mutate                      sixty changes, five in each of twelve areas
    python -m tests.mutate --seed 2 --each 3 tasks/figures tasks/reading

A change is made in a copy of the working tree, and the tests of its area run until the first failure: those that name
the changed module, and where none of them fails the others. The tests of `tasks/AREA` are `tests/tasks/AREA`, of the
other packages `tests/NAME`, and those of `_ELSEWHERE`. What no test of the area noticed is printed with its place.
Some changes alter nothing that a user could see, so the share is a lower bound. A test that fails without the change
too notices nothing.
"""

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
AREAS: Final = (
    *(f"tasks/{name}" for name in ("ai", "companies", "documents", "evidence", "figures", "language", "ranking")),
    *(f"tasks/{name}" for name in ("reading", "reports", "scoring", "statements")),
    "storage",
)
_ELSEWHERE: Final = {"tasks/evidence": ("tests/tasks/reports/test_evidence.py",)}
"""Tests of an area that stand in another: evidence is found, drawn and written for reports."""
_LIMIT: Final = 600  # seconds for an area's tests; a change that makes them hang is noticed
_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


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


def chosen(areas: Sequence[str], each: int, seed: int) -> list[Change]:
    """So many changes of each area, by chance from the seed."""
    choice = random.Random(seed)
    found = []
    for area in areas:
        every = [clause for path in sorted((ROOT / area).rglob("*.py")) for clause in clauses(path)]
        found += [_change(*clause) for clause in choice.sample(every, min(each, len(every)))]
    return found


def is_noticed(change: Change, copy: Path) -> bool:
    """Whether a test of the change's area fails in that copy of the tree."""
    module = copy / change.path
    original = module.read_text("utf-8")
    module.write_text(change.source, "utf-8")
    parts = Path(change.path).parts
    area = Path(*parts[: 2 if parts[0] == "tasks" else 1]).as_posix()
    folder, name = copy / "tests" / area, change.path.removesuffix(".py").replace("/", ".")
    files = [*folder.rglob("test_*.py"), *(copy / each for each in _ELSEWHERE.get(area, ()))]
    beside = str(copy / "tests" / Path(change.path).parent)
    naming = [str(file) for file in files if name in file.read_text("utf-8")]
    others = sorted({*map(str, files)} - {*naming}, key=lambda file: (beside not in file, file))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow and not nightly", "-p", "no:cacheprovider"]
    failed = None
    try:
        for tests in filter(None, (naming, others)):
            done = subprocess.run(
                [*command, *tests], cwd=copy, capture_output=True, text=True, timeout=_LIMIT, check=False
            )
            if done.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
                failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
                break
    except subprocess.TimeoutExpired:
        return True
    finally:
        module.write_text(original, "utf-8")
    if failed is None:
        return False
    alone = subprocess.run([*command, *(failed or ["--version"])], cwd=copy, capture_output=True, check=False)
    return alone.returncode != pytest.ExitCode.TESTS_FAILED


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was not noticed, and the share that was, by area and in all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", default=AREAS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5, help="changes in each area")
    options = parser.parse_args(arguments)
    noticed: dict[str, list[bool]] = {area: [] for area in options.areas}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache"))
        for change in chosen(options.areas, options.each, options.seed):
            area = next(area for area in options.areas if change.path.startswith(f"{area}/"))
            noticed[area].append(is_noticed(change, copy))
            if not noticed[area][-1]:
                print(f"not noticed: {change}", flush=True)
    for area, results in noticed.items():
        print(f"{area:18} {sum(results)} of {len(results)}")
    results = [result for of_area in noticed.values() for result in of_area]
    print(f"{'all':18} {sum(results)} of {len(results)}: {sum(results) / max(len(results), 1):.2f}")


if __name__ == "__main__":
    main()
