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
from tasks.ai.answerer import AiSettings, Answer, Answerer, Source
from tasks.ai.calls import order_warnings
from tasks.ai.prompt_injection import without_injections
from tasks.language.sentences import each_sentence, says_something
from tasks.offload import offload
from tasks.ranking import WordIndex, rank
from tasks.ranking.coverage import LEAST, asks_count, asks_number, gives_number, measure_coverage
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
_ITEM: Final = re.compile(r"^[-–•*·]\s+(?=[^\W\d_])")  # how the copies of a list begin their items
SHOWN = 6  # sentences an answer holds: about what one reads at a glance
_LOOKED_AT: Final = 24  # sentences among which those with a number are looked for


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
    lines = [
        f"{number}. {sentence}\n   — {', '.join(filter(None, (source.name, source.place)))}"
        for number, (sentence, source) in enumerate(best, 1)
    ]
    return "These sentences address the question, word for word:\n\n" + "\n\n".join(lines)


def best_sentences(question: str, sources: Sequence[Source], known: str = "") -> list[Candidate] | None:
    """The sentences that address the question, best first, each with its source; None if no source has any.

    There are none where no sentence covers enough of what is asked (`tasks.ranking.coverage`); `known` are words that
    none needs to have, such as the name of the company that all are about.
    """
    # An order to a model answers nothing. A repeated sentence is shown once, from its first place.
    candidates: dict[str, Source] = {}
    first: dict[str, str] = {}
    for source in sources:
        for sentence in each_sentence(nearby([question], without_injections(source.text)[0])):
            shown = "\t".join(sentence.split("\t")[:_CELLS])
            if any(map(str.isalnum, shown)):  # no line of dashes
                candidates.setdefault(first.setdefault(_ITEM.sub("", shown), shown), source)
    if not candidates:
        return [] if any(source.text.strip() for source in sources) else None
    # A heading holds few words, so BM25 puts it above the sentences below it, yet it says nothing.
    statements = {sentence: source for sentence, source in candidates.items() if says_something(sentence)}
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
        most = max(range(len(texts)), key=lambda at: (coverage[at], says_something(texts[at])))
        near = [most, *near] if coverage[most] >= LEAST else []
    if asks_number(question):
        has = [at for at in near if coverage[at] >= LEAST and gives_number(_with_value(texts, at), question)]
        near = [] if asks_count(question) and not has else list(dict.fromkeys([*has, *near]))
    kept = [text for at in near for text in _with_value(texts, at) if candidates[text] is candidates[texts[at]]]
    return [(text, candidates[text]) for text in dict.fromkeys(kept)]


def _with_value(texts: Sequence[str], at: int) -> Sequence[str]:
    """A text and, where it leads to the one behind it, that one: "Contract value:", "Are directors paid?"."""
    behind = [text for text in texts[at + 1 : at + 2] if not text.rstrip().endswith("?")]
    return [texts[at], *behind] if texts[at].rstrip().endswith((":", "?")) else texts[at : at + 1]


def _rank(question: str, candidates: Mapping[str, Source]) -> list[Candidate]:
    texts = list(candidates)
    return [(texts[index], candidates[texts[index]]) for index, _ in rank(texts, question, _LOOKED_AT)]
