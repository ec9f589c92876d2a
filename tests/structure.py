"""How the code is cut and named: modules, their length, imports inside functions, names, how hard functions are.

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

from complexipy import code_complexity

PACKAGES = ("api", "deployments", "flows", "storage", "tasks")
LEFT_OUT = ("deployments/sample/", "storage/migrations/versions/")
SHORTEST = 10  # lines: what is shorter holds a docstring only
HARD = 25  # of cognitive complexity: above it a table of named rules reads better
NO_PARTICIPLES = {"bed", "embed", "exceed", "feed", "heading", "need", "ring", "seed", "speed", "spring", "string"}
IRREGULAR = {
    "drawn",
    "found",
    "given",
    "held",
    "kept",
    "known",
    "left",
    "lost",
    "said",
    "seen",
    "sent",
    "shown",
    "taken",
}
IRREGULAR |= {"told", "understood", "worn", "written"}
WORDS = """
abort accept act add agree allow amend answer append apply ask assert assign assume attach avoid await be begin bind
block bound break bring build cache call cancel carry catch change check choose claim clean clear close collect
combine come compare complete compute configure connect consume continue convert copy correct count cover create cross
cut date decide decode decrypt delete deny deploy derive describe detect discard divide do download draw drop dump
echo embed empty encode encrypt end enter escape estimate evaluate exclude execute exist expand expect expire explain
export extend extract fail fall fetch fill filter find finish fit fix flag flush follow forget format freeze gather
generate get give go group grow guess hand handle has hash have hide hold identify ignore import include index insert
inspect install interpret is iterate join judge keep know label lead learn leave let limit link list load locate lock
log look lower make map mark match mean measure meet mend merge mix move name need normalise note notice offer offload
omit open order pack pad parse part pass pause pick place plan prefer prepare print probe produce prove prune publish
pull put quote raise rank reach read rebuild receive recognise reconnect record recover redirect reduce refresh refuse
register release reload remember remove rename render repair repeat replace reply report request require reserve reset
resolve rest restore resume retry return reverse revoke round run sample save scale scan schedule score search see
seek select send separate serve set settle share shorten should show shut sign skip sleep sort spell split spread
stand start state stay stop store strip submit subtract sum support swap switch take tell test throttle tidy tie tile
touch trace track transform translate treat trim try turn unpack update upgrade use validate value verify visit wait
walk want warm warn watch withdraw wrap write yield
"""
VERBS = set(WORDS.split())
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
    functions: list[str] = field(default_factory=list)
    complexity: Counter[str] = field(default_factory=Counter)
    tests: int = 0

    def rows(self) -> Iterator[tuple[str, str]]:
        """What is printed: a label and a figure each."""
        modules = {path: lines for path, lines in self.lines.items() if lines >= SHORTEST}
        single = [path for path in modules if len(self.importers[path]) == 1]
        double = {name: paths for name, paths in self.classes.items() if len(paths) > 1}
        yield "modules", str(len(modules))
        yield "lines", str(sum(modules.values()))
        yield "median lines", f"{median(modules.values()):.0f}"
        yield "modules of 150 to 600 lines", str(sum(150 <= lines <= 600 for lines in modules.values()))
        yield "modules above 600 lines", str(sum(lines > 600 for lines in modules.values()))
        files = Counter(Path(path).name for path in modules if path.startswith("tasks/"))
        yield "names of files more than once in tasks", str(sum(number > 1 for number in files.values()))
        yield "modules with one importer", str(len(single))
        yield "… of them below 60 lines", str(sum(modules[path] < 60 for path in single))
        yield "imports not at a module's top", str(sum(self.nested_imports.values()))
        yield "names that say nothing", f"{100 * sum(self.vague.values()) / max(self.names, 1):.1f} % of {self.names}"
        yield "public classes that share a name", str(len(double))
        for label, names in (
            ("functions that begin with a verb", [name for name in self.functions if first_word(name) in VERBS]),
            ("functions with `_of_`", [name for name in self.functions if has_of(name)]),
            ("functions named by a participle", [name for name in self.functions if is_participle(name)]),
        ):
            yield label, f"{100 * len(names) / max(len(self.functions), 1):.1f} % of {len(self.functions)}"
        yield "functions above a complexity of 25", str(sum(value > HARD for value in self.complexity.values()))
        yield "lines of tests", str(self.tests)


def first_word(name: str) -> str:
    """What a function's name begins with: `read` of `_read_table`."""
    return name.strip("_").partition("_")[0].lower()


def has_of(name: str) -> bool:
    """Whether a function is named `text_of` or `text_of_page`."""
    return "_of_" in f"{name.strip('_')}_"


def is_participle(name: str) -> bool:
    """Whether a function is named by what was done (`settled`, `misplaced_names`), not by what it does."""
    word = first_word(name)
    return word in IRREGULAR or (word.endswith(("ed", "ing")) and word not in NO_PARTICIPLES)


def count(files: dict[str, str]) -> Structure:
    """Count a tree, given as the text of each of its modules by path."""
    structure = Structure()
    paths = {_module(path): path for path in files}
    for path, text in files.items():
        if path.startswith("tests/"):
            structure.tests += text.count("\n")
            continue
        for function in code_complexity(text).functions:
            structure.complexity[f"{path}:{function.name}"] = function.complexity
        tree = ast.parse(text)
        structure.lines[path] = text.count("\n")
        top = {id(node) for node in tree.body}
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                structure.classes[statement.name].append(path)
        for node in ast.walk(tree):
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None
            structure.names += name is not None
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                structure.functions.append(node.name)
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
        and path.startswith(tuple(f"{name}/" for name in (*PACKAGES, "tests")))
        and not path.startswith(LEFT_OUT)
    )


def working_tree() -> dict[str, str]:
    """The modules of the working tree, by path."""
    root = Path(__file__).parents[1]
    paths = (path.relative_to(root).as_posix() for name in (*PACKAGES, "tests") for path in (root / name).rglob("*.py"))
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
    print(f"{'':40}" + "".join(f"{name[:14]:>16}" for name in trees))
    for row in zip(*(structure.rows() for structure in trees.values()), strict=True):
        print(f"{row[0][0]:40}" + "".join(f"{figure:>16}" for _, figure in row))
    now = trees["now"]
    for label, counter in (
        ("names that say nothing", now.vague),
        ("imports not at the top", now.nested_imports),
        ("hardest", now.complexity),
    ):
        print(
            f"\n{label}, most: " + ", ".join(f"{path} {number}" for path, number in counter.most_common(12) if number)
        )
    for name, paths in sorted(now.classes.items()):
        if len(paths) > 1:
            print(f"class {name}: {', '.join(paths)}")


if __name__ == "__main__":
    main(sys.argv[1:])
