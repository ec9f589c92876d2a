"""What speaks against a sentence for its figures: those that are missing, of something else, or of another time."""

from collections.abc import Iterator, Sequence
from typing import Final

from tasks.language.words import load_words
from tasks.statements.alignment import Alignment, figure_nearest, find_kind
from tasks.statements.difference import Difference, DifferenceKind
from tasks.statements.reading import ParsedSentence

_DIRECTIONS: Final = (
    ("from", "to"),
    ("from", "by"),
    ("by", "to"),
    ("by", "at"),
    ("before", "after"),
    ("above", "below"),
    ("with", "without"),
)


def find_missing_figures(alignment: Alignment) -> Iterator[Difference]:
    for at in alignment.missing:
        token = alignment.stated.tokens[at]
        if token.figure is not None:
            yield Difference(DifferenceKind.NO_FIGURE, token.text)


def find_misplaced(alignment: Alignment) -> Iterator[Difference]:
    """Figures and dates that the sentence gives for something else than the statement does."""
    stated, source = alignment.stated, alignment.source
    for at in stated.figures:
        own = stated.tokens[at]
        if own.figure is None or at not in alignment.pairs:
            continue
        place = alignment.pairs[at].source
        if are_opposed(own.preposition, source.tokens[place].preposition):
            yield Difference(DifferenceKind.OTHER_FIGURE, own.text)
            continue
        rivals = [other for other in source.figures if kind_at(source, other) == find_kind(own)]
        has_amounts = own.figure.is_date and any(kind_at(stated, other) != "date" for other in stated.figures)
        if len(rivals) > 1 and not has_amounts and not _belongs(alignment, at, place, rivals):
            yield Difference(DifferenceKind.OTHER_FIGURE, own.text)


def _belongs(alignment: Alignment, at: int, place: int, rivals: Sequence[int]) -> bool:
    """Whether the words that say what a figure is stand nearest to it in the sentence too, or before all its rivals."""
    stated, source = alignment.stated, alignment.source
    own = stated.tokens[at]
    order = _in_order(alignment, rivals)
    others = {source.tokens[other].preposition for other in rivals if other != place}
    is_led = own.preposition == source.tokens[place].preposition in {"from", "to", "by"}
    is_said = is_led or place == rivals[0]
    labels = [label for label in _labels(stated, at) if label in alignment.pairs]
    if is_led and own.preposition not in others:
        labels = [label for label in labels if kind_at(stated, label)]
    for label in labels:
        where = alignment.pairs[label].source
        if where in order:
            if order[where] != place:
                return False
            is_said = True
            continue
        nearest = figure_nearest(source, where, own)
        is_shared = all(where < other for other in rivals)
        if nearest == place or _is_antecedent(source, where, place):
            is_said = True
        elif not is_shared:
            return False
    return is_said or not labels


def _is_antecedent(sentence: ParsedSentence, where: int, place: int) -> bool:
    """Whether a word stands before the relative clause of a figure: "a charge …, which included … of 800"."""
    return where < relative_clause(sentence, sentence.tokens[place].clause)


def relative_clause(sentence: ParsedSentence, clause: int) -> int:
    """Where a clause begins that says more of what stands before it: "a portion that was paid"; 0 for another."""
    opens = next(at for at, token in enumerate(sentence.tokens) if token.clause == clause)
    is_relative = opens and sentence.tokens[opens].text in {"that", "which", "who", "whom"}
    return opens if is_relative and sentence.tokens[opens - 1].text not in load_words("prepositions") else 0


def kind_at(sentence: ParsedSentence, at: int) -> str:
    return find_kind(sentence.tokens[at])


def _labels(sentence: ParsedSentence, at: int) -> list[int]:
    """The words and dates of a statement that say what a figure is: those to which it is the nearest of its kind."""
    token = sentence.tokens[at]
    dates = [place for place in sentence.figures if kind_at(sentence, place) == "date" != kind_at(sentence, at)]
    return [place for place in (*sentence.content, *dates) if figure_nearest(sentence, place, token) == at]


def _in_order(alignment: Alignment, rivals: Sequence[int]) -> dict[int, int]:
    """For "2024 and 2023 … 19 % and 13 %, respectively" the figure of each date or word, by place; else empty."""
    source = alignment.source
    if not any(token.text in {"respectively", "jeweils", "respectivement"} for token in source.tokens):
        return {}
    dates = [at for at in source.figures if kind_at(source, at) == "date"]
    for names in (dates, [at for at in source.content if at < rivals[0] and source.tokens[at].figure is None]):
        if len(names) == len(rivals) or (names is not dates and len(names) >= len(rivals)):
            return dict(zip(names[-len(rivals) :], rivals, strict=True))
    return {}


def are_opposed(one: str, other: str) -> bool:
    return any({one, other} == set(pair) for pair in _DIRECTIONS)


def other_times(alignment: Alignment) -> Iterator[Difference]:
    """Amounts that the sentence gives for another time than the statement, where it names several."""
    stated, source = alignment.stated, alignment.source
    days = [at for at in source.figures if kind_at(source, at) == "date"]
    own_days = [at for at in stated.figures if kind_at(stated, at) == "date" and at in alignment.pairs]
    if len(days) < 2 or not own_days:
        return
    for at in stated.figures:
        if at not in alignment.pairs or kind_at(stated, at) == "date":
            continue
        day = figure_nearest(stated, at, stated.tokens[own_days[0]])
        place = alignment.pairs[at].source
        rivals = [other for other in source.figures if kind_at(source, other) == kind_at(source, place)]
        order = _in_order(alignment, rivals)
        if (
            day is None
            or day not in alignment.pairs
            or (len(own_days) < len(amounts_in(stated)) and figure_nearest(stated, day, stated.tokens[at]) != at)
        ):
            continue
        when = alignment.pairs[day].source
        if order.get(when, place) != place or (
            when not in order and figure_nearest(source, place, source.tokens[when]) != when
        ):
            yield Difference(DifferenceKind.OTHER_PERIOD, theirs=source.tokens[place].text)


def amounts_in(sentence: ParsedSentence) -> list[int]:
    return [at for at in sentence.figures if kind_at(sentence, at) != "date"]
