"""Which statements of a model's answer its sources support, and what is shown in place of the others.

A statement is supported by one sentence of a source, or one table row with its header, that says the same (`check`),
or by words in quotation marks that really stand there. The numbers of the sources that it cites are corrected. In
place of a statement that no sentence supports the sentence that speaks of its matter is shown, as a quotation; where
there is none, the statement is left out and counted.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tasks.language.normalise import cut_line
from tasks.language.quotations import locate
from tasks.language.sentences import sentences
from tasks.language.words import has_opposite, load_stems, stem
from tasks.statements.check import LONGEST_SENTENCE, Check, Finding, check
from tasks.statements.figures import figures
from tasks.statements.reading import Limit, read

_CITATION: Final = re.compile(r"(?<!\s)\s*+[\[【]\s*+(\d{1,4}(?:\s*+[,;]\s*+\d{1,4})*+)\s*+[\]】]")
_QUOTATION: Final = re.compile(r"[“„«»]([^“”„«»\n]{8,600})[”“»«]|\"([^\"\n]{8,600})\"")
_URL: Final = re.compile(r"https?://[^\s<>\"'“”()\[\]]+", re.IGNORECASE)
_LINE: Final = re.compile(r"^(\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)?)(.*)$")
_SHARE: Final = re.compile(r"(?<![\d.,/])\d+\s?/\s?\d+(?![\d/])|\b\d+ out of \d+\b")
_SOURCES: Final = r"(?:sources?|documents?|pages?|context|texts?|materials?|passages?|filings?|facts|quellen?|kontext)"
_SILENT: Final = (
    r"(?:(?:do(?:es)?|did) not|don't|doesn't|cannot|can't|says?|tells?|contains?|gives?|provides?|sagen|nennen) "
    r"(?:say|tell|state|mention|contain|provide|specify|disclose|give|indicate|name|answer|reveal|nothing|no|nichts?|keine?)\b"
)
_SAYS_NOTHING: Final = re.compile(
    rf"^(?:the |these |those |provided |given |available |public |die |der )*{_SOURCES} {_SILENT}"
    rf"|^(?:there is )?no (?:information|mention|source)\b[^.]*\b(?:{_SOURCES}|given|found|available|provided)\b"
    rf"|\b(?:not|nicht) (?:stated|mentioned|disclosed|specified|provided|said) (?:in|by) the {_SOURCES}\b",
    re.IGNORECASE,
)
_ABOUT_SOURCES: Final = load_stems("about_sources")
_LONGEST_QUOTE: Final = 600


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
class CheckedStatement:
    """A statement of an answer with its verdict.

    Attributes:
        text: the statement without the numbers that it cites.
        verdict: what the sources' words say of it.
        numbers: the sources of the verdict, those that it cites first.
        quote: the source's sentence; empty where none speaks of the matter.
        mark: what stands before it where it begins a line: a bullet, a number.
        line: the line of the answer, from 0.
        is_quotation: what stands is the quotation in it alone; the words around it are not supported.
        is_about_sources: it says nothing but what the sources do not say, or nothing at all.
    """

    text: str
    verdict: Finding
    numbers: tuple[int, ...] = ()
    quote: str = ""
    why: str = ""
    mark: str = ""
    line: int = 0
    is_quotation: bool = False
    is_about_sources: bool = False

    @property
    def stands(self) -> bool:
        """Whether it is shown in its own words."""
        return self.verdict is Finding.SUPPORTED


@dataclass(frozen=True)
class CheckedAnswer:
    """What stands of an answer.

    Attributes:
        text: its supported statements, and the quotations in it that are verified.
        shown: the same, and in place of each other statement the sentence of its source, as a quotation.
        cited: the numbers of the sources of `shown`.
        left_out: how many statements have neither.
        replaced: in place of how many a source's sentence is shown.
    """

    text: str
    shown: str
    cited: frozenset[int]
    left_out: int
    replaced: int
    statements: tuple[CheckedStatement, ...]


def prove(
    answer: str,
    question: str,  # noqa: ARG001 - part of the interface; its words support nothing
    company: str,
    grounds: Sequence[Ground],
    *,
    strict: bool = False,
) -> CheckedAnswer:
    """Keep what the sources support of an answer.

    Args:
        answer: the model's text; `[1]` in it is the first source.
        question: the question that it answers.
        company: the words that name the company; they may stand for a source's "we".
        grounds: the sources.
        strict: for sources in which somebody tried to give the model orders: what was not given to the model supports
            nothing.

    The only web addresses that stand are those that were fetched.
    """
    return assemble_answer(tuple(_statements(answer, company, grounds, strict=strict)))


def assemble_answer(
    statements: Sequence[CheckedStatement], remarks: Mapping[int, str] | None = None, kept: Collection[int] = ()
) -> CheckedAnswer:
    """The answer of checked statements.

    Args:
        statements: all statements of the answer, in order.
        remarks: words that are put behind some of them, by their place.
        kept: the places of those that are shown in their own words though no words of a source support them.
    """
    remarks = remarks or {}
    said, shown = dict[int, list[str]](), dict[int, list[str]]()
    marks: dict[int, str] = {}
    cited: set[int] = set()
    replaced = left_out = 0
    quoted: set[str] = set()
    for place, statement in enumerate(statements):
        marks.setdefault(statement.line, statement.mark)
        if statement.stands:
            words = with_citation(statement.text, statement.numbers)
            said.setdefault(statement.line, []).append(words)
        elif place in kept:
            words = statement.text
        elif statement.quote:
            replaced += 1
            if statement.quote in quoted:
                continue
            quoted.add(statement.quote)
            words = with_citation(f"“{statement.quote}”", statement.numbers)
        else:
            left_out += 1
            continue
        if place not in kept:
            cited.update(statement.numbers)
        remark = remarks.get(place)
        shown.setdefault(statement.line, []).append(f"{words} {remark}" if remark else words)
    return CheckedAnswer(
        _lines(said, marks), _lines(shown, marks), frozenset(cited), left_out, replaced, tuple(statements)
    )


def _lines(by_line: Mapping[int, Sequence[str]], marks: Mapping[int, str]) -> str:
    lines: list[str] = []
    last = None
    for number in sorted(by_line):
        if last is not None and number > last + 1 and any(other not in marks for other in range(last + 1, number)):
            lines.append("")  # a blank line of the answer
        lines.append(marks[number] + " ".join(by_line[number]))
        last = number
    return "\n".join(lines).strip()


def _statements(answer: str, company: str, grounds: Sequence[Ground], *, strict: bool) -> Iterator[CheckedStatement]:
    for number, line in enumerate(answer.splitlines()):
        match = _LINE.match(line)
        mark, text = (match[1], match[2]) if match else ("", line)
        for sentence in _sentences(text):
            statement = _check(sentence, company, grounds, strict=strict)
            yield replace(statement, mark=mark, line=number)


def _sentences(line: str) -> list[str]:
    """The sentences in a line; a citation after a full stop belongs to the sentence before it."""
    result: list[str] = []
    for sentence in sentences(line, longest=None):
        citations = re.match(rf"(?:{_CITATION.pattern})+", sentence)
        rest = sentence
        if citations and result:
            result[-1] += citations[0]
            rest = sentence[citations.end() :].strip()
        if rest:
            result.append(rest)
    return result


def _check(sentence: str, company: str, grounds: Sequence[Ground], *, strict: bool) -> CheckedStatement:
    text = _CITATION.sub("", sentence).strip()
    if len(sentence) > LONGEST_SENTENCE:
        return CheckedStatement(text, Finding.NOT_FOUND, why="it is too long to be one statement")
    by_number = {ground.number: ground for ground in grounds}
    numbers = [int(number) for group in _CITATION.findall(sentence) for number in re.findall(r"\d+", group)]
    cited = tuple(dict.fromkeys(number for number in numbers if number in by_number))
    order = [*(by_number[number] for number in cited), *(ground for ground in grounds if ground.number not in cited)]
    urls = {ground.url for ground in grounds}
    if any(url.rstrip(".,;:!?") not in urls for url in _URL.findall(text)):
        return CheckedStatement(text, Finding.NOT_FOUND, why="it names an address that was not fetched")
    quotations = [curly or straight for curly, straight in _QUOTATION.findall(text)]
    if quotations:
        return _with_quotations(text, quotations, company, order, strict=strict)
    own = _URL.sub(" ", text)
    if not _says_something(own, company):
        is_negative = any(token.limit is Limit.NEGATION for token in read(own).tokens)
        return CheckedStatement(
            text,
            Finding.NOT_FOUND if is_negative and numbers else Finding.SUPPORTED,
            cited[:1],
            is_about_sources=True,
        )
    if _SAYS_NOTHING.search(own) and not figures(own):
        return CheckedStatement(text, Finding.SUPPORTED, is_about_sources=True)
    return _by_words(text, own, company, order, strict=strict)


def _says_something(text: str, company: str) -> bool:
    names = {stem(word) for word in re.split(r"[\s.,]+", company) if len(word) > 1}
    sentence = read(text)
    return bool(sentence.figures) or any(
        sentence.tokens[at].stem not in names | _ABOUT_SOURCES for at in sentence.content
    )


def _by_words(text: str, own: str, company: str, order: Sequence[Ground], *, strict: bool) -> CheckedStatement:
    shared = [ground.text if strict else f"{ground.text}\n{ground.whole}" for ground in order]
    if any(not any(share[0] in words for words in shared) for share in _SHARE.finditer(own)):
        return CheckedStatement(text, Finding.NOT_FOUND, why="it names a share that no source has")
    best, numbers = _best(own, company, order, strict=strict)
    quote = _short(best.sentence) if best.verdict is Finding.SUPPORTED or best.is_worth_showing else ""
    return CheckedStatement(text, best.verdict, numbers if quote else (), quote, best.why)


def _best(own: str, company: str, order: Sequence[Ground], *, strict: bool) -> tuple[Check, tuple[int, ...]]:
    """The verdict of the sources on a statement, and the numbers of the sources that it is based on."""
    texts = [
        (ground.number, text)
        for ground in order
        for text in dict.fromkeys([ground.text] if strict else [ground.text, ground.whole])
    ]
    best = check(own, [text for _, text in texts], company)
    return best, (texts[best.text][0],) if texts else ()


def _with_quotations(
    text: str, quotations: Sequence[str], company: str, order: Sequence[Ground], *, strict: bool
) -> CheckedStatement:
    """Check a statement that contains quotations: a source must contain them, and the words around
    them need proof too.
    """
    places = [next((one for one in order if locate(quotation, one.whole)), None) for quotation in quotations]
    if any(ground is None for ground in places):
        return CheckedStatement(text, Finding.NOT_FOUND, why="its quotation stands in no source")
    numbers = tuple(dict.fromkeys(ground.number for ground in places if ground is not None))
    around = _URL.sub(" ", _QUOTATION.sub(" ", text))
    if not _says_something(around, company):
        return CheckedStatement(text, Finding.SUPPORTED, numbers)
    whole = _URL.sub(" ", _QUOTATION.sub(lambda match: match[1] or match[2], text))
    best, _ = _best(whole, company, order, strict=strict)
    if best.verdict is Finding.SUPPORTED:
        return CheckedStatement(text, Finding.SUPPORTED, numbers)
    if _is_label(around):
        verdict = Finding.NOT_FOUND if strict else Finding.SUPPORTED
        return CheckedStatement(text, verdict, numbers, why="the label of its quotation is its own")
    if strict:
        return CheckedStatement(
            text, Finding.NOT_FOUND, numbers, why="the words around its quotation are not supported"
        )
    quotes = " ".join(f"“{quotation}”" for quotation in quotations)
    return CheckedStatement(
        quotes, Finding.SUPPORTED, numbers, why="the words around are not supported", is_quotation=True
    )


def _is_label(around: str) -> bool:
    """Whether the words around a quotation only label it: one or two words before a colon, without a judgement."""
    match = re.fullmatch(r"\s*(?P<label>[^\d:.;,]{2,40}):[\s.]*", around)
    sentence = read(match["label"]) if match else None
    if sentence is None or any(token.limit for token in sentence.tokens):
        return False
    return len(sentence.tokens) <= 2 and not any(has_opposite(token.stem) for token in sentence.tokens)


def _short(sentence: str) -> str:
    return cut_line(sentence.replace("“", "‘").replace("”", "’"), _LONGEST_QUOTE)


def with_citation(text: str, numbers: Sequence[int]) -> str:
    """The statement with the numbers of its sources before its full stop."""
    if not numbers:
        return text
    citation = " " + "".join(f"[{number}]" for number in numbers)
    stop = re.search(r"(?<![.!?:])[.!?:]++$", text)
    return text[: stop.start()] + citation + stop[0] if stop else text + citation
