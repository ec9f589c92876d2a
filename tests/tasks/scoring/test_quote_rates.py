"""How often a quotation is judged rightly, on the sentences and lines of the sample batch's documents."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from tasks.errors import DiligenceError
from tasks.language.quotations import verify
from tasks.reading.embedded import read_with_embedded
from tasks.scoring.passages import cut


@cache
def sample() -> list[tuple[str, str]]:
    """Passages' sentences and lines with the text that they come from."""
    rooms = Path(__file__).parents[3] / "deployments" / "sample" / "rooms"
    return [pair for path in sorted(rooms.rglob("*")) if path.is_file() for pair in _quotable(path)]


def _quotable(path: Path) -> Iterator[tuple[str, str]]:
    try:
        reading = read_with_embedded(path, path.suffix.lower())
    except DiligenceError:  # one is damaged on purpose
        return
    for piece in cut(reading.text, reading.places):
        passage = reading.text[piece.start : piece.end]
        for sentence in re.split(r"(?<=[.;])\s+|\n(?=[A-Z])", passage):
            if len(sentence.split()) >= 4 and sum(map(str.isalnum, sentence)) >= 20:
                yield sentence, reading.text


LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}


def noisy(quote: str, chosen: Random) -> str:
    """The quotation as another program would have set or read it."""
    if chosen.random() < 0.5:
        quote = " ".join(quote.split())
    if chosen.random() < 0.3:
        for plain, joined in LIGATURES.items():
            quote = quote.replace(plain, joined)
    if chosen.random() < 0.5:
        quote = quote.translate(str.maketrans("“”‘’–—−", "\"\"''---"))
    if chosen.random() < 0.3:
        quote = chosen.choice([str.upper, str.lower])(quote)
    if chosen.random() < 0.4:
        mark = chosen.choice(["-\n", "\ufffe\n", "\x02\n", "\u00ad", "-\r\n"])
        quote = re.sub("(?<=[a-z]{3})(?=[a-z]{3})", lambda _: mark if chosen.random() < 0.1 else "", quote)
    if chosen.random() < 0.3:
        quote = re.sub(" ", lambda _: chosen.choice([" ", "\u00a0", "  ", "\n"]), quote)
    return f"“{quote}”" if chosen.random() < 0.2 else quote


def test_at_least_96_of_100_true_quotes_are_kept() -> None:
    chosen = Random(1)
    kept = [verify(noisy(quote, chosen), text) for quote, text in sample()]
    assert len(kept) > 400
    assert sum(kept) / len(kept) >= 0.96


def test_at_most_one_of_200_altered_quotes_is_kept() -> None:
    chosen = Random(2)
    kept = []
    for quote, text in sample():
        figures = [found.start() for found in re.finditer("[0-9]", quote)]
        if figures and chosen.random() < 0.5:
            at = chosen.choice(figures)
            other = chosen.choice([digit for digit in "0123456789" if digit != quote[at]])
            altered = quote[:at] + other + quote[at + 1 :]
        else:
            word = chosen.choice(list(re.finditer("[A-Za-z]{2,}", quote)) or [None])
            if word is None:
                continue
            altered = quote[: word.start()] + chosen.choice(["never", "material", "loss"]) + quote[word.end() :]
        if altered.lower() != quote.lower():
            kept.append(verify(altered, text))
    assert len(kept) > 400
    assert sum(kept) / len(kept) <= 0.005


def test_at_most_one_of_100_quotes_cut_inside_a_number_is_kept() -> None:
    chosen = Random(3)
    kept = []
    for quote, text in sample():
        for number in re.finditer(r"\d[\d.,]*\d", quote):
            at = number.start() + chosen.randint(1, len(number.group()) - 1)
            halves = quote[:at].rstrip(".,"), quote[at:].lstrip(".,")
            kept += [verify(half, text) for half in halves if sum(map(str.isalnum, half)) >= 8]
    assert len(kept) > 200
    assert sum(kept) / len(kept) <= 0.01
