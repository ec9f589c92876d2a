"""How the code is cut: modules, their length, imports inside functions, names that say nothing.

`python -m tests.structure` counts the working tree, `python -m tests.structure REVISION …` the trees of git revisions
beside it. It prints and decides nothing: `make check` holds what must hold.
"""

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

PACKAGES = ("api", "deployments", "flows", "storage", "tasks")
LEFT_OUT = ("deployments/sample/", "storage/migrations/versions/")
SHORTEST = 10  # lines: what is shorter holds a docstring only
VAGUE = {"each", "found", "told", "said", "kept", "asked", "given", "wanted", "looked"}


@dataclass
class Structure:
    """What is counted of one tree."""

    lines: dict[str, int] = field(default_factory=dict)
    importers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    names: int = 0
    vague: Counter[str] = field(default_factory=Counter)
    nested_imports: Counter[str] = field(default_factory=Counter)
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def rows(self) -> Iterator[tuple[str, str]]:
        """What is printed: a label and a figure each."""
        modules = {path: lines for path, lines in self.lines.items() if lines >= SHORTEST}
        single = [path for path in modules if len(self.importers[path]) == 1]
        double = {name: paths for name, paths in self.classes.items() if len(paths) > 1}
        yield "modules", str(len(modules))
        yield "lines", str(sum(modules.values()))
        yield "median lines", f"{median(modules.values()):.0f}"
        yield "modules of 150 to 400 lines", str(sum(150 <= lines <= 400 for lines in modules.values()))
        yield "modules above 400 lines", str(sum(lines > 400 for lines in modules.values()))
        yield "modules with one importer", str(len(single))
        yield "… of them below 60 lines", str(sum(modules[path] < 60 for path in single))
        yield "imports not at a module's top", str(sum(self.nested_imports.values()))
        yield "names that say nothing", f"{100 * sum(self.vague.values()) / max(self.names, 1):.1f} % of {self.names}"
        yield "public classes that share a name", str(len(double))


def count(files: dict[str, str]) -> Structure:
    """Count a tree, given as the text of each of its modules by path."""
    structure = Structure()
    paths = {_module(path): path for path in files}
    for path, text in files.items():
        tree = ast.parse(text)
        structure.lines[path] = text.count("\n")
        top = {id(node) for node in tree.body}
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                structure.classes[statement.name].append(path)
        for node in ast.walk(tree):
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None
            structure.names += name is not None
            if name in VAGUE:
                structure.vague[path] += 1
            if isinstance(node, ast.Import | ast.ImportFrom):
                structure.nested_imports[path] += id(node) not in top
                for imported in _imported(node):
                    if paths.get(imported, path) != path:
                        structure.importers[paths[imported]].add(path)
    return structure


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]


def _counts(path: str) -> bool:
    return (
        path.endswith(".py")
        and path.startswith(tuple(f"{name}/" for name in PACKAGES))
        and not path.startswith(LEFT_OUT)
    )


def working_tree() -> dict[str, str]:
    """The modules of the working tree, by path."""
    root = Path(__file__).parents[1]
    paths = (path.relative_to(root).as_posix() for name in PACKAGES for path in (root / name).rglob("*.py"))
    return {path: (root / path).read_text("utf-8") for path in sorted(paths) if _counts(path)}


def revision(name: str) -> dict[str, str]:
    """The modules of a git revision, by path.

    Raises:
        subprocess.CalledProcessError: git knows no such revision.
    """
    archive = subprocess.run(["git", "archive", name], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = {member.name: tar.extractfile(member) for member in tar.getmembers() if _counts(member.name)}
        return {path: content.read().decode() for path, content in sorted(members.items()) if content}


def main(revisions: list[str]) -> None:
    """Print the figures of the revisions and of the working tree, a column each."""
    trees = {name: count(revision(name)) for name in revisions} | {"now": count(working_tree())}
    print(f"{'':34}" + "".join(f"{name[:14]:>16}" for name in trees))
    for row in zip(*(structure.rows() for structure in trees.values()), strict=True):
        print(f"{row[0][0]:34}" + "".join(f"{figure:>16}" for _, figure in row))
    now = trees["now"]
    for label, counter in (("names that say nothing", now.vague), ("imports not at the top", now.nested_imports)):
        print(
            f"\n{label}, most: " + ", ".join(f"{path} {number}" for path, number in counter.most_common(12) if number)
        )
    for name, paths in sorted(now.classes.items()):
        if len(paths) > 1:
            print(f"class {name}: {', '.join(paths)}")


if __name__ == "__main__":
    main(sys.argv[1:])
