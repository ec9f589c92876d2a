"""Signals are tried beside the words of their group, where what they need is, and weak ones beside another kind."""

import pytest

from tasks.ai.prompt_injection.prefilter import VOCABULARY, Watch, group, merged

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
