"""What a text says in the words that are listened for, stretch by stretch."""

import pytest

from tasks.ai.prompt_injection.prefilter import STRETCH, Vocabulary


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
