"""The prefilter: the words that a pattern required_words, the bits of words in a text, and where patterns are tried."""

import re
import tomllib
from pathlib import Path

import pytest

from tasks.ai.prompt_injection.normalise import normalise
from tasks.ai.prompt_injection.patterns import group
from tasks.ai.prompt_injection.patterns_en import ACTS, ADDRESSING
from tasks.ai.prompt_injection.patterns_other import LANGUAGES
from tasks.ai.prompt_injection.prefilter import (
    STRETCH,
    VOCABULARY,
    Prefilter,
    Vocabulary,
    Words,
    merged,
    required_words,
)

INJECTIONS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "injections.toml").read_text(encoding="utf-8")
)
SIGNALS = [signal for group in (*ADDRESSING, *ACTS, *LANGUAGES) for signal in group.signals]


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        (r"\bignore\b", [{"ignore"}]),
        (r"\binstructions?\b", [{"instruction-"}]),
        (r"\bcriteri(?:a|on)\b", [{"criteri-"}]),
        (r"\b(?:rate|score) (?:the )?(?:top|best)", [{"rate", "score"}, {"top-", "best-"}]),
        (r"\bscore\s{1,6}of\s?[:=]", [{"score"}, {"of"}]),
        (r"\b(?:say|answer (?:with|by))", [{"say-", "answer"}]),
        (r"\b(?:5|five) points", [{"points-"}]),
        (r"\bgive[^.!?]{0,60}?\bscore\b", [{"give-"}, {"score"}]),
        (r"ignore\b", []),
        (r"\b(?:the )?\w+", []),
        (r"\bdo not(?! of| is)[ab]", [{"do"}, {"not-"}]),
    ],
)
def test_the_words_that_a_pattern_requires_are_read_from_it(pattern: str, required: list[set[str]]) -> None:
    assert required_words(pattern) == required


def _stands(words: Words, parts: list[str]) -> bool:
    return any(part == word or (word.endswith("-") and part.startswith(word[:-1])) for word in words for part in parts)


def test_required_words_stand_in_what_the_pattern_matches() -> None:
    text = normalise(
        "\n\n".join(text for kinds in INJECTIONS.values() for texts in kinds.values() for text in texts)
    ).text
    matches = [(signal, match) for signal in SIGNALS for match in signal.pattern.finditer(text)]

    assert len(matches) > len(SIGNALS)
    for signal, match in matches:
        parts = re.findall("[a-z]+", match.group())
        assert all(_stands(words, parts) for words in required_words(signal.pattern.pattern)), (signal, match)


def test_most_patterns_require_a_word() -> None:
    assert sum(bool(required_words(signal.pattern.pattern)) for signal in SIGNALS) > 0.95 * len(SIGNALS)


# --- the bits of words in a text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"ai"}, b"to an ai: read"),
        ({"ai", "llm"}, b"llm"),
        ({"ignor-"}, b"they ignored it"),
        ({"-reti-"}, b"xvtaberetia"),
    ],
)
def test_a_word_sets_its_bit(words: set[str], text: bytes) -> None:
    vocabulary = Vocabulary()
    bit = vocabulary.bit(frozenset(words))

    assert vocabulary.bits_by_stretch(text) == [bit]


@pytest.mark.parametrize(("words", "text"), [({"ai"}, b"aim or maid"), ({"ignor-"}, b"signore"), ({"ai"}, b"")])
def test_another_word_does_not(words: set[str], text: bytes) -> None:
    vocabulary = Vocabulary()
    vocabulary.bit(frozenset(words))

    assert not any(vocabulary.bits_by_stretch(text))


def test_a_word_counts_in_the_stretch_where_it_begins() -> None:
    vocabulary = Vocabulary()
    bit = vocabulary.bit(frozenset({"instructions"}))

    for at in range(STRETCH - 12, STRETCH + 2):
        assert vocabulary.bits_by_stretch(b" " * at + b"instructions" + b" " * STRETCH)[at // STRETCH] == bit


def test_a_bit_that_is_added_later_is_set_by_cached_words() -> None:
    vocabulary = Vocabulary()
    first = vocabulary.bit(frozenset({"score"}))
    vocabulary.bits_by_stretch(b"score")
    second = vocabulary.bit(frozenset({"scor-"}))

    assert vocabulary.bits_by_stretch(b"score") == [first | second]


# --- where patterns are tried


PREFILTER = Prefilter(
    [
        group("score", "prompt", r"\bgive (?:top|best) marks\b", strong=True),
        group("say", "prompt", r"\bsay yes\b"),
        group("edge", "<!--", r"<!-- secret\b", strong=True),
        group("edge", "margin-", r"\bin the margin\b"),
    ]
)


def _matches(text: str) -> list[str]:
    letters = text.encode("ascii", "replace")
    return [match.group() for _, match in PREFILTER.matches(text, letters, VOCABULARY.bits_by_stretch(letters))]


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("prompt: give best marks", ["give best marks"]),
        ("give best marks", []),
        ("promptly give best marks", []),
        ("prompt" + "." * 400 + " give best marks", []),
        ("x" * 315 + " prompt give top marks", ["give top marks"]),
        ("prompt: say yes", []),
        ("prompt: say yes in the margin", ["say yes", "in the margin"]),
        ("prompt: say yes" + " x" * 2000 + " in the margins", []),
        ("text <!-- secret", ["<!-- secret"]),
    ],
)
def test_a_signal_is_tried_where_it_can_match(text: str, matches: list[str]) -> None:
    assert _matches(text) == matches


def test_spans_that_touch_are_one() -> None:
    assert merged([(5, 9), (0, 2), (2, 4), (8, 12)]) == [(0, 4), (5, 12)]
