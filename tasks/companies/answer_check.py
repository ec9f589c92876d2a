"""Which statements of a model's answer its sources prove. The others are left out, and counted.

A statement is proved by words of a source in quotation marks that really stand there, or by consisting of words that
a source has. Its figures must stand in the source in both cases. The numbers that it cites are corrected.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tasks.text.quotations import verify
from tasks.text.sentences import sentences
from tasks.text.tokens import tokens

_CITATION: Final = re.compile(r"\s*[\[【]\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*[\]】]")
_QUOTATION: Final = re.compile(r"[“„«»]([^“”„«»\n]{8,600})[”“»«]|\"([^\"\n]{8,600})\"")
_URL: Final = re.compile(r"https?://[^\s<>\"'“”()\[\]]+", re.IGNORECASE)
_SHARE: Final = re.compile(r"\d+\s?/\s?\d+|\d+ out of \d+")
_LINE: Final = re.compile(r"^(\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?)(.*)$")
_NEGATION: Final = re.compile(
    r"\b(?:not|no|none|nothing|nor|neither|keine?|nicht|nichts|aucune?|ne|pas|ninguna?|non|n't)\b", re.IGNORECASE
)
_WORDS_ABOUT_SOURCES: Final = frozenset(
    tokens(
        "source sources say says said tell tells told state states stated mention mentioned mentions provide provided "
        "disclose disclosed information page pages public publicly document documents find found give given available "
        "according company based indicate specify specified contain quelle quellen sagen angaben"
    )
)
"""With these an answer speaks about its sources; they need no proof."""
_SHARE_OF_WORDS, _STRICT_SHARE_OF_WORDS = 0.5, 0.6
"""How many of a statement's own words its source must have: a paraphrase has more of them, an invention few."""


@dataclass(frozen=True)
class Ground:
    """A numbered source as the model got it (`text`), and its full text (`whole`), where a quotation may stand.

    `url` is the address that it was fetched from; None where there is none.
    """

    number: int
    url: str | None
    text: str
    whole: str


@dataclass(frozen=True)
class CheckedAnswer:
    """The statements that are proved, the numbers of their sources, and how many statements were left out."""

    text: str
    cited: frozenset[int]
    left_out: int


@dataclass(frozen=True)
class _Statement:
    """A statement without its citations, its quotations, and those of its words that need a proof."""

    text: str
    numbers: Sequence[int]
    quotations: Sequence[str]
    words: Sequence[str]
    shares: Sequence[str]

    @property
    def is_negative(self) -> bool:
        return _NEGATION.search(self.text) is not None


def prove(
    answer: str, question: str, company: str, grounds: Sequence[Ground], *, strict: bool = False
) -> CheckedAnswer:
    """Keep what the sources prove of an answer. `company` are the words that name the company.

    Those words prove nothing, and nor do the question's words in a statement that has others. The only web addresses
    in it are those that were fetched. `strict` is for sources in which somebody tried to give the model orders: a
    quotation then does not prove the words around it.
    """
    by_number = {ground.number: ground for ground in grounds}
    name_words, question_words = frozenset(tokens(company)), frozenset(tokens(question))
    lines: list[str] = []
    cited: set[int] = set()
    left_out = 0
    for line in answer.splitlines():
        match = _LINE.match(line)
        mark, text = (match[1], match[2]) if match else ("", line)
        proved = []
        for sentence in _sentences(text):
            statement = _statement(sentence, name_words)
            numbers = _proof(statement, question_words, by_number, strict=strict)
            if numbers is None:
                left_out += 1
                continue
            cited.update(numbers)
            proved.append(_with_citation(statement.text, numbers))
        if proved:
            lines.append(mark + " ".join(proved))
        elif not text.strip() and lines and lines[-1]:
            lines.append("")
    return CheckedAnswer("\n".join(lines).strip(), frozenset(cited), left_out)


def _sentences(line: str) -> list[str]:
    """The sentences of a line; a citation behind a full stop belongs to the sentence before it."""
    result: list[str] = []
    for sentence in sentences(line):
        citations = re.match(rf"(?:{_CITATION.pattern})+", sentence)
        rest = sentence
        if citations and result:
            result[-1] += citations[0]
            rest = sentence[citations.end() :].strip()
        if rest:
            result.append(rest)
    return result


def _statement(sentence: str, name_words: frozenset[str]) -> _Statement:
    text = _CITATION.sub("", sentence).strip()
    own_words = _QUOTATION.sub(" ", _URL.sub(" ", text))
    return _Statement(
        text=text,
        numbers=[int(number) for group in _CITATION.findall(sentence) for number in re.findall(r"\d+", group)],
        quotations=[curly or straight for curly, straight in _QUOTATION.findall(text)],
        words=[token for token in tokens(own_words) if token not in name_words and token not in _WORDS_ABOUT_SOURCES],
        shares=_SHARE.findall(text),
    )


def _proof(
    statement: _Statement, question_words: frozenset[str], grounds: dict[int, Ground], *, strict: bool
) -> tuple[int, ...] | None:
    """The numbers of the sources that prove it: those cited, else the first that does; None where none does."""
    urls = {ground.url for ground in grounds.values()}
    if any(url.rstrip(".,;:!?") not in urls for url in _URL.findall(statement.text)):
        return None
    cited = tuple(dict.fromkeys(number for number in statement.numbers if number in grounds))
    if not statement.words and not statement.quotations:
        return () if not statement.numbers or statement.is_negative else cited[:1]
    for numbers in (cited, *((number,) for number in grounds)):
        if numbers and _is_proved([grounds[number] for number in numbers], statement, question_words, strict=strict):
            return numbers
    if statement.quotations or any(word[0].isdigit() for word in statement.words):
        return None
    says_that_nothing_is_said = statement.is_negative and not _WORDS_ABOUT_SOURCES.isdisjoint(tokens(statement.text))
    return () if says_that_nothing_is_said else None


def _is_proved(
    grounds: Sequence[Ground], statement: _Statement, question_words: frozenset[str], *, strict: bool
) -> bool:
    """Whether these sources together prove the statement."""
    if not all(any(verify(quotation, ground.whole) for ground in grounds) for quotation in statement.quotations):
        return False
    texts = [ground.whole if statement.quotations else ground.text for ground in grounds]
    source_words = frozenset[str]().union(*map(_tokens_of, texts))
    figures = [word for word in statement.words if any(map(str.isdigit, word))]
    if any(figure not in source_words for figure in figures):
        return False
    if any(not any(_has_share(text, share) for text in texts) for share in statement.shares):
        return False
    if statement.quotations and not strict:
        return True
    words = [word for word in statement.words if word not in figures or not strict]
    own_words = [word for word in words if word not in question_words]
    share = _STRICT_SHARE_OF_WORDS if strict else _SHARE_OF_WORDS
    enough = share * len(own_words) if own_words else len(words)
    proved = sum(word in source_words for word in own_words or words)
    return proved > enough or proved == len(own_words or words)


def _has_share(text: str, share: str) -> bool:
    """Whether the text has that share (`3/4`, `3 out of 4`), and not as a part of other figures."""
    return re.search(rf"(?<![\d.,/]){re.escape(share)}(?![\d/])", text, re.IGNORECASE) is not None


def _with_citation(text: str, numbers: Sequence[int]) -> str:
    """The statement with the numbers of its sources before its full stop."""
    if not numbers:
        return text
    citation = " " + "".join(f"[{number}]" for number in numbers)
    stop = re.search(r"[.!?:]+$", text)
    return text[: stop.start()] + citation + stop[0] if stop else text + citation


@lru_cache(maxsize=64)
def _tokens_of(text: str) -> frozenset[str]:
    return frozenset(tokens(text))
