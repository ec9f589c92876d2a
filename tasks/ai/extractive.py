"""The answerer without a model: the sentences of the sources that match a question, word for word.

BM25 ranks them (`tasks.ranking`), of a very long source those in the parts that are nearest. Nothing is written, joined
or shortened, and nothing is judged.

Of a very long text, `nearby` selects the parts that concern given statements, for a check that would hold all
sentences. A check needs some fifty bytes for each character of a source, and takes seconds for a megabyte. From a
source above `LONGEST` it gets the parts that share most with each statement, each with the part before it, which may
contain a table's header.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tasks import cancellation
from tasks.ai.answerer import Answer, Answerer, Source
from tasks.ai.calls import order_warnings
from tasks.ai.prompt_injection import without_injections
from tasks.ai.settings import AiSettings
from tasks.language.periods import NUMBER_WORDS, header_words
from tasks.language.sentences import each_sentence
from tasks.offload import offload
from tasks.ranking import WordIndex, rank
from tasks.ranking.query import LEAST, measure_coverage
from tasks.spending.budget import Ledger
from tasks.spending.money import Usage

LONGEST: Final = 500_000
"""Characters of a source that is checked whole."""
_PART: Final = 4_000
"""Characters of a part, at most; it ends with a line, where there is one."""
_AT_ONCE: Final = 500
"""Parts that are ranked together."""
_MOST: Final = 20
"""Parts for each statement; a check looks at eight sentences."""

Span = tuple[int, int]


def nearby(statements: Sequence[str], text: str) -> str:
    """The text or, if it is longer than `LONGEST`, the parts close to one of the statements, in order."""
    if len(text) <= LONGEST:
        return text
    spans = list(_spans(text))
    candidates: dict[str, list[int]] = {statement: [] for statement in statements}
    for first in range(0, len(spans), _AT_ONCE):
        cancellation.check()
        index = WordIndex([text[start:end] for start, end in spans[first : first + _AT_ONCE]])
        for statement, found in candidates.items():
            found += [first + place for place, _ in index.rank(statement, _MOST)]
    kept: set[int] = set()
    for statement, found in candidates.items():
        for place, _ in rank([text[slice(*spans[number])] for number in found], statement, _MOST):
            kept |= {found[place], max(found[place] - 1, 0)}
    return "\n".join(text[slice(*spans[number])] for number in sorted(kept))


def _spans(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        middle, end = start + _PART // 2, start + _PART
        if end < len(text):
            end = text.rfind("\n", middle, end) + 1 or text.rfind(" ", middle, end) + 1 or end
        yield start, min(end, len(text))
        start = end


OPENING = "This answer is extractive: no model was asked."
Candidate = tuple[str, Source]
"""A sentence that may be shown, and where it stands."""
_CELLS = 8  # of a table's row that are shown: its name and the first ones
SHOWN = 6  # sentences an answer holds: about what one reads at a glance
_LOOKED_AT: Final = 24  # sentences among which those with a number are looked for
_ASKS_COUNT: Final = re.compile(
    r"\W*(?:how (?:many|much)|wie ?viele?|(?P<amount>wie hoch|a (?:cuánto|quanto)|hur mycket)|combien d(?!e temps)"
    r"|(?:cuánt|quant)[oai]s?|hoeveel|hur många|hvor (?:mange|meget|mye)|ile|kolik)\b"
    r"(?! (?:time|notice|zeit|tiempo|tempo|tijd|lang))",
    re.IGNORECASE,
)
"""How a question begins that only a number answers, or a word such as none, half or sole."""
_TENS: Final = re.compile("|".join(header_words("tens")))
_QUANTITY: Final = "|".join(header_words("quantities"))
_ARTICLE: Final = r"eine?[mnrs]?|une?|un[oa]|een|uma?|ett"
"""What may say one, before the word that is counted."""
_ASKS_NUMBER: Final = re.compile(
    r"(?:\W*(?:\w{1,5} )?(?:when|how (?:long|high|large|old|big)|wann|wie lange|quand|combien|cuándo|quando|wanneer"
    r"|hoe lang|när|når|kiedy|kdy)\b"
    r"|\W*(?:what(?! happens)|which|was|welche\w?|quel\w*|cuál\w*|qual\w*|wat|welke?|hvad|hva|vad|jak\w*)\b[^?]*?"
    rf"\b(?:{'|'.join(header_words('amounts'))})\b)",
    re.IGNORECASE,
)
"""How a question begins that a number, or a time, probably answers."""
_LETTERS: Final = 5
_NUMBERING: Final = re.compile(r"[#>*•\-–\s]*(?:§ ?)?(?:\d{1,3}(?:\.\d{1,3})*[.):]?\s+)?")
"""What numbers a paragraph or an item before its words."""
_TO_FILL: Final = re.compile(
    r"(?:(?:[:€$£]|\b(?:is|of|be|eur|usd|gbp|chf|ist|est|es|è)) ?\[(?=\W{0,5}[^\W\d_]{2})[^\]]{1,80}\]"
    r"|\[\W{0,5}(?:to be|insert|enter|tb[acd]|date|name|amount|address|number|à compl|a completar|da compil|einsetzen"
    r"|einfügen|datum|betrag|montant|nom)\b[^\]]{0,80}\]|_{3,}|\.{5,}|…{2,})[\W_]*$",
    re.IGNORECASE,
)
"""The end of a line that is still to be filled in."""


class ExtractiveAnswerer(Answerer):
    """Takes answers from the sources, or says that there is nothing to take one from."""

    name = "extractive"

    def answer(
        self,
        question: str,
        sources: Sequence[Source],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - part of the seam
    ) -> Answer:
        """The best sentences first, each with its source and place; costs nothing."""
        return offload(answer_by_quotation, question, sources)


def from_settings(_settings: AiSettings) -> ExtractiveAnswerer:
    """The answerer; it has no settings of its own."""
    return ExtractiveAnswerer()


def answer_by_quotation(question: str, sources: Sequence[Source], known: str = "") -> Answer:
    """The answer without a model; `known` as in `best_sentences`."""
    return Answer(f"{OPENING} {quote_sentences(question, sources, known)}", Usage(), order_warnings(sources))


def quote_sentences(question: str, sources: Sequence[Source], known: str = "") -> str:
    """The sentences of the sources that address the question, word for word, or the statement that there are none."""
    best = best_sentences(question, sources, known)
    if best is None:
        return "No text was given with the question, so there is nothing to answer from."
    if not best:
        return "No sentence of the text given addresses the question, so there is nothing to answer from."
    lines = [f"{number}. {sentence}\n   — {_where(source)}" for number, (sentence, source) in enumerate(best, 1)]
    return "These sentences address the question, word for word:\n\n" + "\n\n".join(lines)


def best_sentences(question: str, sources: Sequence[Source], known: str = "") -> list[Candidate] | None:
    """The sentences that address the question, best first, each with its source; None if no source has any.

    There are none where no sentence covers enough of what is asked (`tasks.ranking.query`); `known` are words that
    none needs to have, such as the name of the company that all are about.
    """
    # An order to a model answers nothing. A repeated sentence is shown once, from its first place.
    candidates: dict[str, Source] = {}
    for source in sources:
        for sentence in each_sentence(nearby([question], without_injections(source.text)[0])):
            candidates.setdefault("\t".join(sentence.split("\t")[:_CELLS]), source)
    if not candidates:
        return [] if any(source.text.strip() for source in sources) else None
    # A heading holds few words, so BM25 puts it above the sentences below it, yet it says nothing.
    statements = {sentence: source for sentence, source in candidates.items() if _says_something(sentence)}
    best = _rank(question, statements) or _rank(question, candidates)
    return _keep_covered(question, best, candidates, known)[:SHOWN] if best else best


def _keep_covered(
    question: str, best: list[Candidate], candidates: Mapping[str, Source], known: str
) -> list[Candidate]:
    """The best sentences if one covers the question; otherwise with the one that does in front, or none at all."""
    texts = list(candidates)
    places = {text: at for at, text in enumerate(texts)}
    likeliest = [places[text] for text, _ in best]
    named = {source.number: f"{source.name} {source.place or ''}" for source in candidates.values()}
    shown = [f"{named[source.number]}\t{text}" for text, source in candidates.items()]
    coverage = measure_coverage(question, shown if len(named) > 1 else texts, known, likeliest)
    near: list[int] = [at for at in likeliest if coverage[at] >= LEAST / 3]
    if max(coverage[at] for at in likeliest) < LEAST:
        most = max(range(len(texts)), key=lambda at: (coverage[at], _says_something(texts[at])))
        near = [most, *near] if coverage[most] >= LEAST else []
    is_count = _ASKS_COUNT.match(question) is not None
    if is_count or _ASKS_NUMBER.match(question):
        has = [at for at in near if coverage[at] >= LEAST and _gives_number(texts, at, question)]
        near = [] if is_count and not has else list(dict.fromkeys([*has, *near]))
    kept = [text for at in near for text in _with_value(texts, at) if candidates[text] is candidates[texts[at]]]
    return [(text, candidates[text]) for text in dict.fromkeys(kept)]


def _with_value(texts: Sequence[str], at: int) -> Sequence[str]:
    """A text and, where it leads to the one behind it, that one: "Contract value:"."""
    return texts[at : at + 2] if texts[at].rstrip().endswith(":") else texts[at : at + 1]


def _gives_number(texts: Sequence[str], at: int, question: str) -> bool:
    """Whether a text, or the value behind a label, has a number that is neither its own nor the question's."""
    words = " ".join(_NUMBERING.sub("", text, count=1) for text in _with_value(texts, at)).casefold()
    asked = re.findall(r"\w+", question.casefold())
    own = set(re.findall(r"\w+", words)).difference(asked)
    if any(map(str.isdigit, "".join(own))) or not NUMBER_WORDS.isdisjoint(own) or _TENS.search(" ".join(own)):
        return True
    count = _ASKS_COUNT.match(question)
    counted = question.casefold()[count.end() if count else 0 :]
    begins = [word[:_LETTERS] for word in re.findall(r"[^\W\d]+", counted) if len(word) >= _LETTERS - 1]
    if count is None or count["amount"] or not begins:
        return False
    near = rf"(?:{_QUANTITY})\W+(?:\w+\W+){{0,2}}(?:{'|'.join(begins)})|(?:{_ARTICLE}) (?:\w+ )?{begins[0]}"
    return re.search(rf"\b(?:{near})", words) is not None


def _says_something(sentence: str) -> bool:
    """Whether a sentence is no heading, and no line that is still to be filled in."""
    words = _NUMBERING.sub("", sentence, count=1)
    is_long = len(words.split()) > 3 and not sentence.startswith("#")
    return _TO_FILL.search(words) is None and (is_long or "\t" in sentence.strip() or any(map(str.isdigit, words)))


def _rank(question: str, candidates: Mapping[str, Source]) -> list[Candidate]:
    texts = list(candidates)
    return [(texts[index], candidates[texts[index]]) for index, _ in rank(texts, question, _LOOKED_AT)]


def _where(source: Source) -> str:
    return f"{source.name}, {source.place}" if source.place else source.name
