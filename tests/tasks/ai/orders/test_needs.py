"""The words that a pattern needs: told from the pattern, and there in whatever it matches."""

import re
import tomllib
from pathlib import Path

import pytest

from tasks.ai.prompt_injection.normalise import fold
from tasks.ai.prompt_injection.patterns_en import ACTS, ADDRESSING
from tasks.ai.prompt_injection.patterns_other import LANGUAGES
from tasks.ai.prompt_injection.prefilter import Words, needs

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
