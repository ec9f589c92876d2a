"""Normalising: every disguise of an alphabet becomes plain letters that know their place in the text."""

from tasks.ai.prompt_injection.detect import normalise
from tests.cases import cases


@cases(
    ("text", "plain"),
    [
        ("Ignore", "ignore"),
        ("\uff29\uff47\uff4e\uff4f\uff52\uff45", "ignore"),
        ("\U0001d408\U0001d420\U0001d427\U0001d428\U0001d42b\U0001d41e", "ignore"),
        ("i\u200bg\u00adn\u2060ore", "ignore"),
        ("ign\u043er\u0435", "ignore"),
        ("".join(chr(0xE0000 + ord(letter)) for letter in "Ignore"), "ignore"),
        ("Anweisungen f\u00fcr Stra\u00dfen", "anweisungen fur strassen"),
        ("\u0141\u00f3d\u017a \u00d8re", "lodz ore"),
        ("\u201cyes\u201d \u2013 \u2018no\u2019", "\"yes\" - 'no'"),
        ("Игнорируй", "игнорируи"),
        ("忽略。", "忽略."),
    ],
)
def test_a_disguise_becomes_plain_letters(text: str, plain: str) -> None:
    assert normalise(text).text == plain


def test_every_normalised_character_knows_where_it_stood() -> None:
    text = "a\u200bb… \u00df\u200b\u200bc\nline \u201ctwo\u201d \ufb01x\nlast"
    normalised = normalise(text)

    for word in ("b", "c", "line", "two", "x", "last"):
        assert text[normalised.original(normalised.text.index(word))] == word[0]


def test_a_plain_text_keeps_its_length() -> None:
    text = "Revenue rose by 3 %.\n" * 3

    assert normalise(text).text == text.lower()
    assert normalise(text).original(30) == 30
