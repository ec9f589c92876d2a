"""Every pattern of the code, and the texts on which a search for it could take time that grows with their square.

A repeat without a bound takes such time where a search begins it anew at each place of a run (`[.!?]+(?=\\s)` on dots),
where what stands before it comes again and again (`<.*>` on `<<<<`), or where two of them may share a run. From the
tree of a pattern each of its repeats gets these texts.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from re import _constants, _parser
from types import ModuleType
from typing import Any, Final

_MANY: Final = 300
"""A repeat that takes no more than this is linear, however often it begins."""
_SAMPLES: Final = "a1. -A,\t(\n\"'é_/x0$Z)[]<>%;:=#&*+?|\\~^`{}@!\x00€–“”…\u00a0§中"
_TAILS: Final = ("", "\x00", "!x", "\n")
_FLAGS: Final = {"compile": 1, "sub": 4, "subn": 4, "split": 3} | dict.fromkeys(
    ("search", "match", "findall", "finditer", "fullmatch"), 2
)
"""The functions of `re` that take a pattern, and at which place they take flags."""


def patterns(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """The patterns that a module writes down, each with its name or line and the method that searches most with it.

    Those that are made within a function of what it is given are left out.
    """
    tree = ast.parse(inspect.getsource(module))
    names = {
        inner: target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and node.value
        for inner in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        if not isinstance(node.func.value, ast.Name) or node.func.value.id != "re" or node.func.attr not in _FLAGS:
            continue
        place = _FLAGS[node.func.attr]
        flags = [each.value for each in node.keywords if each.arg == "flags"] + node.args[place : place + 1]
        try:
            written, *rest = (
                eval(compile(ast.Expression(each), "", "eval"), vars(module)) for each in (node.args[0], *flags)
            )
            pattern = re.compile(written, *rest)
        except (NameError, TypeError, ValueError):
            continue
        if pattern.pattern:
            name = names.get(node, "")
            uses = _uses(tree, name) if node.func.attr == "compile" else {node.func.attr}
            yield (
                name or str(node.lineno),
                pattern,
                next((each for each in ("fullmatch", "match") if uses == {each}), "finditer"),
            )


def _uses(tree: ast.AST, name: str) -> set[str]:
    """The methods of a pattern of that name that a module calls; where it does something else with it, "" too."""
    loads = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    methods = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {methods.get(id(node), "") for node in loads}


@dataclass(frozen=True)
class PumpedText:
    """A text with one part again and again."""

    head: str
    pump: str
    tail: str

    def __call__(self, size: int) -> str:
        return self.head + self.pump * (size // len(self.pump)) + self.tail

    def __str__(self) -> str:
        return f"{self.head!r} + {self.pump!r} * n + {self.tail!r}"


def texts(pattern: re.Pattern[Any]) -> Iterator[PumpedText]:
    """What makes texts of about so many characters on which the pattern may be slow."""
    once = dict.fromkeys(
        PumpedText(head, pump, tail)
        for before, units in _repeats(list(_parser.parse(pattern.pattern, pattern.flags)), [""])
        for unit in units
        for lead in before
        for head, pump in ((lead, unit), ("", lead + unit), ("", lead))
        if pump
        for tail in _TAILS
    )
    yield from sorted(once, key=lambda text: _TAILS.index(text.tail))


def _repeats(items: list[Any], before: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The unbounded repeats of a part of a pattern: what may stand before each, and what each may take once."""
    for operation, argument in items:
        match operation:
            case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
                least, most, body = argument
                yield from _repeats(list(body), before)
                units = [unit for unit in _words(list(body)) if unit]
                if most == _constants.MAXREPEAT or most > _MANY:
                    yield before, units[:6]
                if least:
                    before = _joined(before, [unit * least for unit in units or [""]])
                elif units:
                    before = [*before, *_joined(before, units[:1])]
            case _constants.SUBPATTERN:
                yield from _repeats(list(argument[3]), before)
                before = _joined(before, _words(list(argument[3])))
            case _constants.ATOMIC_GROUP:
                yield from _repeats(list(argument), before)
                before = _joined(before, _words(list(argument)))
            case _constants.ASSERT | _constants.ASSERT_NOT:
                yield from _repeats(list(argument[1]), before)
            case _constants.BRANCH:
                for branch in argument[1]:
                    yield from _repeats(list(branch), before)
                before = _joined(before, _words([(operation, argument)]))
            case _:
                before = _joined(before, _words([(operation, argument)]))


def _joined(before: list[str], behind: list[str]) -> list[str]:
    return list(dict.fromkeys(one + other for one in before[:3] for other in behind[:3] or [""]))[:4]


def _words(items: list[Any]) -> list[str]:
    """Some words that a part of a pattern matches."""
    words = [""]
    for operation, argument in items:
        match operation:
            case _constants.LITERAL:
                choices = [chr(argument)]
            case _constants.NOT_LITERAL:
                choices = [each for each in _SAMPLES if each != chr(argument)][:2]
            case _constants.ANY:
                choices = ["a", " ", "."]
            case _constants.IN:
                choices = _members(argument)
            case _constants.BRANCH:
                choices = [word for branch in argument[1][:8] for word in _words(list(branch))[:2]]
            case _constants.SUBPATTERN:
                choices = _words(list(argument[3]))
            case _constants.ATOMIC_GROUP:
                choices = _words(list(argument))
            case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
                units = _words(list(argument[2]))
                choices = [unit * max(argument[0], 1) for unit in units] + ([""] if not argument[0] else [])
            case _:
                choices = [""]
        words = list(dict.fromkeys(one + other for one in words[:4] for other in choices[:6] or [""]))[:10]
    return words


def _members(items: Any) -> list[str]:
    """Some characters of a set: those of its own first."""
    pattern = _parser.SubPattern(_parser.State(), [(_constants.IN, items)])
    import re._compiler as compiler  # type: ignore[import-not-found]

    one = compiler.compile(pattern, 0)
    own = [chr(each[1]) for each in items if each[0] is _constants.LITERAL]
    own += [chr(each[1][0]) for each in items if each[0] is _constants.RANGE]
    return [each for each in dict.fromkeys([*own[:3], *_SAMPLES]) if one.match(each)][:6] or [""]
