"""Shapes of text that make a pattern or a loop take time that grows faster than the text."""

from collections.abc import Callable
from typing import Final

PROSE: Final = "The revenue of Acme Ltd. rose by 4.2% to EUR 12,300 thousand in 2023 (2022: 11,800). "


def _run(unit: str, before: str = "In 2023 ", behind: str = "§x") -> Callable[[int], str]:
    """That unit again and again, with something before and behind it at which a search fails."""
    return lambda size: before + unit * max((size - len(before) - len(behind)) // len(unit), 1) + behind


def _lines(line: str) -> Callable[[int], str]:
    return _run(line, "", "")


def _nested(opening: str, closing: str) -> Callable[[int], str]:
    def shape(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + "x" + closing * depth

    return shape


SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "prose": _run(PROSE, "", ""),
    "lines of prose": _lines(PROSE + "\n"),
    "no blanks": _run("Revenue2023"),
    "dots": _run(".", "", ""),
    "dots behind words": _run("."),
    "blanks": _run(" "),
    "tabs": _run("\t"),
    "no-break spaces": _run("\xa0"),
    "line ends": _run("\n"),
    "CR LF": _run("\r\n"),
    "form feeds": _run("x\f"),
    "a": _run("a", "", ""),
    "A": _run("A", "", "!"),
    "digits": _run("1"),
    "1.": _run("1."),
    "1,": _run("1,"),
    "1 ": _run("1 "),
    "a ": _run("a "),
    "A. ": _run("A. "),
    "Aa ": _run("Aa "),
    "a, ": _run("a, "),
    "a and ": _run("a and "),
    "not ": _run("not "),
    "EUR ": _run("EUR "),
    "hyphens": _run("-"),
    "a-": _run("a-"),
    "a'": _run("a'"),
    "underscores": _run("_"),
    "quotes": _run('"'),
    '"a" ': _run('"a" '),
    "(": _run("("),
    "[": _run("["),
    "()": _nested("(", ")"),
    "[[]]": _nested("[", "]"),
    "[1]": _run("[1]"),
    "<": _run("<"),
    "<a>": _run("<a>"),
    "<div>": _nested("<div>", "</div>"),
    "<!--": _run("<!--"),
    "&": _run("&"),
    "&amp": _run("&amp"),
    "{": _run("{"),
    '{"a":': _nested('{"a":', "}"),
    "\\": _run("\\"),
    "*": _run("*"),
    "|": _run("|"),
    "#": _run("#"),
    "/": _run("/"),
    "http://a ": _run("http://a "),
    "a@": _run("a@"),
    "%": _run("%"),
    "§": _run("§", "", "x"),
    "combining marks": _run("\u0301"),
    "a\u0301": _run("a\u0301"),
    "emoji": _run("\U0001f600"),
    "surrogates": _run("\ud83d"),
    "zero width": _run("\u200b"),
    "soft hyphens": _run("a\u00ad"),
    "hanzi": _run("收入"),
    "hanzi with stops": _run("收入。"),
    "table": _lines("Revenue\t12,300\t11,800\t(4.2)\n"),
    "one row": _run("Revenue\t12,300\t"),
    "numbered lines": _lines("1. Revenue\n"),
    "one word a line": _lines("a\n"),
    "indented lines": _lines("    a\n"),
}
