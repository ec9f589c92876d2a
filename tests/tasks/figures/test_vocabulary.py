"""The words that tables and sentences are read by: each entry is whole, and is there once."""

import re
import tomllib
from importlib.resources import files
from itertools import chain
from pathlib import Path

from tasks.figures.figure import DATA, WORDS, either, words_in

_NESTED = {"mentions", "clauses", "before"}
"""Entries by concept, or plain words."""


def _read(name: str) -> dict[str, object]:
    return tomllib.loads(files("tasks.figures").joinpath(name).read_text("utf-8"))


def test_no_entry_stands_in_both_files() -> None:
    assert not _read("vocabulary.toml").keys() & _read("sentence_words.toml").keys()


def test_all_entries_can_be_searched_for_and_are_asked_for() -> None:
    modules = "\n".join(file.read_text("utf-8") for file in Path("tasks/figures").glob("*.py"))
    referred = set(re.findall(r"\(\?&(\w+)\)", "".join(chain.from_iterable(map(words_in, DATA.keys() - _NESTED)))))
    for name in DATA.keys() - _NESTED:
        re.compile(either(name))
        assert (
            re.search(rf"WORDS\.{name}\b|[\"']{name}[\"']", modules) or name in referred or name.startswith("basis_")
        ), name
    assert set(re.findall(r"\bWORDS\.(\w+)", modules)) <= DATA.keys()


def test_lines_of_a_long_pattern_are_one() -> None:
    assert not re.search(r"\n|  ", WORDS.year_ended.pattern)


def test_of_words_by_language_the_longest_come_first() -> None:
    longest = max(words_in("respectively"), key=len)
    assert either("respectively").startswith(f"(?:{longest}|")
