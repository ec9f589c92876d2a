"""How often a quotation is verified, by the way in which it is written and by what was changed in it.

`DILIGENCE_BENCH_STATEMENTS` names the folder of `tests.benchmarks.analysts`; the sources in our own words are measured
without it. Sources are parted in two by a hash of their names; `DILIGENCE_BENCH_PART=development` measures the part on which
rules were changed, and `list` prints what is judged wrongly of it. Sources with figures in other notations are drawn by
program: each has one sentence a notation, and its quotation in each other notation is an altered one.
"""
# ruff: noqa: E501 - patterns read best in one piece

import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from tasks.language.sentences import sentences
from tasks.scoring.quotes import verify
from tests.benchmarks.analysts import STATEMENTS, document

Form = Callable[[str], str | None]


def _replaced(pattern: str, by: str) -> Form:
    def form(sentence: str) -> str | None:
        changed, count = re.subn(pattern, by, sentence, count=1)
        return changed if count else None

    return form


_LIMITING: Final = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|if|unless|except|excluding|only|until|other than|subject|provided|may"
    r"|might|could|would|expected|whereas|while|but|however|fail\w*|den\w+|than|instead|rather)\b|n['’]t",
    re.IGNORECASE,
)


_LOOSE: Final = re.compile(r"\d|^per |per$")
"""A figure, or half of `per cent`, at which nobody cuts a quotation."""


def _is_open(sentence: str) -> bool:
    """Whether nothing in a sentence turns its sense, so that its parts may be quoted."""
    return _LIMITING.search(sentence) is None


def _begun(sentence: str, *, capital: bool = False) -> str | None:
    words = sentence.split()
    if len(words) < 10 or not _is_open(sentence) or not words[3].isalpha():
        return None
    rest = " ".join(words[3:])
    return rest[0].upper() + rest[1:] if capital else rest


def _without_middle(sentence: str, mark: str) -> str | None:
    words = sentence.split()
    return (
        f"{' '.join(words[:5])}{mark}{' '.join(words[-5:])}"
        if len(words) > 14 and _is_open(sentence) and not _LOOSE.search(" ".join([words[4], words[-6]]))
        else None
    )


TRUE: Final[dict[str, Form]] = {
    "as it stands": lambda sentence: sentence,
    "in bold": lambda sentence: f"**{sentence}**",
    "partly bold": _replaced(r"\b(\w{5,}) (\w{5,})\b", r"**\1** \2"),
    "smart quotes": lambda sentence: f"“{sentence}”",
    "smart apostrophe": _replaced(r"(?<=\w)['’](?=\w)", "'"),
    "soft hyphen": _replaced(r"\b(\w{4})(\w{4,})\b", "\\1\u00ad\\2"),
    "hyphen at a line's end": _replaced(r"\b([a-z]{4})([a-z]{4,})\b", "\\1-\n\\2"),
    "line breaks": lambda sentence: sentence.replace(" ", "\n", 3),
    "ligature": _replaced(r"fi", "ﬁ"),
    "percent in words": _replaced(r"(?<=\d)\s?%", " percent"),
    "percent as a sign": _replaced(r"(?<=\d) per ?cent\b", "%"),
    "thousands without commas": _replaced(r"(?<![\d,.])(\d{1,3}),(\d{3})(?![\d,])", r"\1\2"),
    "no-break space": _replaced(r"(?<=\d) (?=[a-z])", "\u00a0"),
    "ellipsis at the end": lambda sentence: f"{sentence.rstrip('.')}…",
    "begun behind its first words": _begun,
    "capital behind its first words": lambda sentence: _begun(sentence, capital=True),
    "middle left out": lambda sentence: _without_middle(sentence, " … "),
    "middle left out, in brackets": lambda sentence: _without_middle(sentence, " [...] "),
    "final stop added": lambda sentence: f"{sentence.rstrip('.')[:60].rpartition(' ')[0]}." if len(sentence) > 90 and _is_open(sentence) and not re.search(r"[\d.][^ ]* ?[^ ]*$", sentence[:60].rpartition(" ")[0]) else None,
    "dash": _replaced(r" [-–] ", " — "),
}  # fmt: skip
_OTHER: Final = {"million": "billion", "billion": "million", "thousand": "million", "days": "months", "months": "years",
                 "years": "days", "ounces": "tonnes", "shares": "units", "hours": "days"}  # fmt: skip
ALTERED: Final[dict[str, Form]] = {
    "figure": _replaced(r"(?<![\d.,])[1-8](?=[\d,.]*\d)", "9"),
    "sign": _replaced(r"(?<![\w.,–-])(?=[$€£]\d|\d[\d.]*%)", "-"),
    "currency": lambda sentence: next((sentence.replace(one, other, 1) for one, other in (("$", "€"), ("€", "£"), ("£", "$"), ("NOK", "SEK"), ("EUR", "USD")) if one in sentence), None),
    "scale or unit": lambda sentence: next((re.sub(rf"\b{one}\b", other, sentence, count=1) for one, other in _OTHER.items() if re.search(rf"\d {one}\b", sentence)), None),
    "percent for points": _replaced(r"(?<=\d)\s?(?:%|per cent)", " percentage points"),
    "points for basis points": _replaced(r"basis points", "percentage points"),
    "negation put in": _replaced(r"\b(is|are|was|were|has|have|will|shall|may|must)\b", r"\1 not"),
    "negation taken out": _replaced(r"\b(?:not|never) ", ""),
    "no for a": _replaced(r"\b(?:no|No) (?=[a-z])", "a "),
    "number word": _replaced(r"\b(?:two|three|four|five|six|nine|ten)\b", "eight"),
    "name": _replaced(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b", "Wexborough"),
    "year": _replaced(r"\b20(\d)(\d)\b", r"20\g<1>7"),
    "other word": _replaced(r"\b(?:increased|rose|grew|fell|decreased|declined)\b", "moved"),
    "begun behind a negation": lambda sentence: (match := re.search(r"\b(?:not|never|no)\s+(?=\w+\s+\w+\s+\w+)", sentence)) and sentence[match.end() :],
    "begun behind a condition": lambda sentence: (match := re.search(r"\b(?:unless|except|if)\s+(?=\w+\s+\w+\s+\w+)", sentence)) and sentence[match.end() :],
    "negation left out": lambda sentence: re.sub(r"\s+(?:not|never)\s+", " … ", sentence, count=1) if re.search(r"\w+ \w+ (?:not|never)\s+\w+ \w+ \w+", sentence) else None,
    "condition left out": lambda sentence: (match := re.search(r",? \b(?:unless|except|if|subject to|excluding|only)\b[^.]{8,40}? (?=\w+ \w+ \w+)", sentence)) and f"{sentence[: match.start()]} [...] {sentence[match.end() :]}" if (match := re.search(r",? \b(?:unless|except|if|subject to|excluding|only)\b[^.]{8,40}? (?=\w+ \w+ \w+)", sentence)) and match.start() > 15 else None,
    "cut in a word": lambda sentence: sentence[: match.start() + 3] if (match := next((each for each in re.finditer(r"[a-z]{6,}", sentence) if each.start() > 25), None)) else None,
    "cut in a figure": lambda sentence: sentence[: match.end() - 1] if (match := re.search(r"(?<=.{15})\d[\d,.]*\d\d", sentence)) else None,
    "cut before its scale": lambda sentence: sentence[: match.end()] if (match := re.search(r"(?<=.{15})\d[\d.,]*\d?(?= (?:million|billion|per cent|percent|basis)|%)", sentence)) else None,
}  # fmt: skip

AMOUNTS: Final = (
    "₹4,215", "₩4,215", "₽4,215", "A$4,215", "US$4,215", "$4,215", "€4,215", "¥4,215", "HK$4,215", "CHF 4,215",
    "₹4,215 lakh", "₹4,215 crore", "₹4,215 million", "(4,215)", "4,215-", "-4,215", "4,215", "4,215 m²", "4,215 m³",
    "4,215 m", "4,215 ft²", "4,215 km", "4,215 tonnes", "4,216", "42,150", "4.215", "4,215 thousand", "~4,216",
    "0.5%", "0.5‰", "0.5 pp", "0.5 bps", "0.5 percentage points", "0.5 basis points", "0.5x", "-0.5%", "(0.5%)", "5%",
)  # fmt: skip
FRAMES: Final = (
    "The audited amount for the period was {} according to note 7.",
    "For the second half the committee was shown {} by the auditor.",
    "Amount reported\t{}\taudited",
)
_SAME: Final = [
    {"(4,215)", "4,215-", "-4,215"},
    {"0.5 pp", "0.5 percentage points"},
    {"0.5 bps", "0.5 basis points"},
    {"-0.5%", "(0.5%)"},
]


def _texts(folder: Path | None) -> Iterator[tuple[str, str]]:
    for source in tomllib.loads(STATEMENTS.read_text(encoding="utf-8"))["source"]:
        if "text" in source:
            yield source["company"], source["text"]
        elif folder is not None:
            yield source["document"], document(folder, source["document"])


def judged(*, shut: bool, folder: Path | None) -> Iterator[tuple[bool, str, str, str, bool]]:
    """Each quotation of a part: whether it is true, its kind, the sentence, itself, and whether it is verified."""
    for name, text in _texts(folder):
        if int(sha256(name.encode()).hexdigest(), 16) % 2 != shut:
            continue
        for sentence in sentences(text):
            if not 6 <= len(sentence.split()) <= 60 or "\t" in sentence or "|" in sentence:
                continue
            for is_true, forms in ((True, TRUE), (False, ALTERED)):
                for kind, form in forms.items():
                    quote = form(sentence)
                    is_changed = kind == "as it stands" or quote != sentence
                    is_elsewhere = not is_true and not kind.startswith(("cut", "begun")) and str(quote) in text
                    if quote and is_changed and not is_elsewhere:
                        yield is_true, kind, sentence, quote, verify(quote, text)


def notations(*, shut: bool) -> Iterator[tuple[bool, str, str, str, bool]]:
    """Amounts in one notation, quoted in it and in each other one."""
    for number, frame in enumerate(FRAMES):
        if (number % 2 == 1) != shut and number != len(FRAMES) - 1:
            continue
        for amount in AMOUNTS:
            text = f"Note 7. Nothing else was agreed.\n{frame.format(amount)}\nThe next meeting is in May."
            for other in AMOUNTS:
                is_true = amount == other or any(amount in group and other in group for group in _SAME)
                if is_true and amount != other:
                    continue  # either may be said
                quote = frame.format(other)
                yield is_true, "notation", text, quote, verify(quote, text)


def run() -> None:
    """Print what is verified, by kinds."""
    place = os.environ.get("DILIGENCE_BENCH_STATEMENTS")
    shut = os.environ.get("DILIGENCE_BENCH_PART") != "development"
    counts: dict[tuple[bool, str], Counter[bool]] = {}
    rows = [*judged(shut=shut, folder=Path(place) if place else None), *notations(shut=shut)]
    for is_true, kind, sentence, quote, stands in rows:
        counts.setdefault((is_true, kind), Counter())[stands] += 1
        if "list" in sys.argv and stands != is_true:
            print(f"{kind} | {quote!r}\n        {sentence!r}")
    for is_true, title in ((True, "true quotations: kept"), (False, "altered quotations: through")):
        own = {kind: each for (truth, kind), each in counts.items() if truth is is_true}
        print(f"{title} {sum(each[True] for each in own.values())} of {sum(each.total() for each in own.values())}")
        for kind, each in own.items():
            print(f"  {kind} | {each[True]} of {each.total()}")


if __name__ == "__main__":
    run()
