"""The prefilter: the words that a pattern needs, the bits of words in a text, and where patterns are tried."""

import re
import tomllib
from pathlib import Path

import pytest

from tasks.ai.prompt_injection.normalise import fold
from tasks.ai.prompt_injection.patterns_en import ACTS, ADDRESSING
from tasks.ai.prompt_injection.patterns_other import LANGUAGES
from tasks.ai.prompt_injection.prefilter import STRETCH, VOCABULARY, Vocabulary, Watch, Words, group, merged, needs

INJECTIONS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "injections.toml").read_text(encoding="utf-8")
)
SIGNALS = [signal for group in (*ADDRESSING, *ACTS, *LANGUAGES) for signal in group.signals]


@pytest.mark.parametrize(
    ("pattern", "needed"),
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
def test_a_pattern_tells_what_it_needs(pattern: str, needed: list[set[str]]) -> None:
    assert needs(pattern) == needed


def _stands(words: Words, parts: list[str]) -> bool:
    return any(part == word or (word.endswith("-") and part.startswith(word[:-1])) for word in words for part in parts)


def test_all_that_a_pattern_needs_is_in_what_it_matches() -> None:
    text = fold("\n\n".join(each for parts in INJECTIONS.values() for part in parts.values() for each in part)).text
    matches = [(signal, match) for signal in SIGNALS for match in signal.pattern.finditer(text)]

    assert len(matches) > len(SIGNALS)
    for signal, match in matches:
        parts = re.findall("[a-z]+", match.group())
        assert all(_stands(words, parts) for words in needs(signal.pattern.pattern)), (signal, match)


def test_most_patterns_need_a_word() -> None:
    assert sum(bool(needs(signal.pattern.pattern)) for signal in SIGNALS) > 0.95 * len(SIGNALS)


# --- the bits of words in a text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"ai"}, b"to an ai: read"),
        ({"ai", "llm"}, b"llm"),
        ({"ignor-"}, b"they ignored it"),
        ({"-reti-"}, b"xvtaberetia"),
    ],
)
def test_a_word_is_heard(words: set[str], said: bytes) -> None:
    vocabulary = Vocabulary()
    bit = vocabulary.bit(frozenset(words))

    assert vocabulary.heard(said) == [bit]


@pytest.mark.parametrize(("words", "said"), [({"ai"}, b"aim or maid"), ({"ignor-"}, b"signore"), ({"ai"}, b"")])
def test_another_word_is_not(words: set[str], said: bytes) -> None:
    vocabulary = Vocabulary()
    vocabulary.bit(frozenset(words))

    assert not any(vocabulary.heard(said))


def test_each_word_is_heard_whole_where_it_begins() -> None:
    vocabulary = Vocabulary()
    bit = vocabulary.bit(frozenset({"instructions"}))

    for at in range(STRETCH - 12, STRETCH + 2):
        assert vocabulary.heard(b" " * at + b"instructions" + b" " * STRETCH)[at // STRETCH] == bit


def test_what_is_listened_for_later_is_heard_in_known_words() -> None:
    vocabulary = Vocabulary()
    first = vocabulary.bit(frozenset({"score"}))
    vocabulary.heard(b"score")
    second = vocabulary.bit(frozenset({"scor-"}))

    assert vocabulary.heard(b"score") == [first | second]


# --- where patterns are tried


WATCH = Watch(
    [
        group("score", "prompt", r"\bgive (?:top|best) marks\b", strong=True),
        group("say", "prompt", r"\bsay yes\b"),
        group("edge", "<!--", r"<!-- secret\b", strong=True),
        group("edge", "margin-", r"\bin the margin\b"),
    ]
)


def _found(text: str) -> list[str]:
    bare = text.encode("ascii", "replace")
    return [match.group() for _, match in WATCH.matches(text, bare, VOCABULARY.heard(bare))]


@pytest.mark.parametrize(
    ("text", "found"),
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
def test_a_signal_is_tried_where_it_can_match(text: str, found: list[str]) -> None:
    assert _found(text) == found


def test_spans_that_touch_are_one() -> None:
    assert merged([(5, 9), (0, 2), (2, 4), (8, 12)]) == [(0, 4), (5, 12)]
