"""What speaks against a sentence as the proof of a statement: kinds with their words, and the sentences made of them.

Code asks for the kind; `Difference.why` is for people alone.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Final


class DifferenceKind(Enum):
    """What a sentence says otherwise, or does not say: each kind has its sentence as its value."""

    SAYS = "it says “{word}”"
    SAYS_OF = "it says “{word}” of {other}"
    OF_SOMETHING_ELSE = "it says “{word}” of something else"
    OF_ANOTHER_FIGURE = "it says “{word}” of another figure"
    OTHER_PLACE = "it says {word} in another place"
    COMPARED_PLACE = "it says {word} in another place and compares the other with it"
    LACKS = "it does not say “{word}”"
    LESS_OFTEN = "it does not say “{word}” so often"
    LACKS_QUANTITY = "it does not say {word}"
    NOT_ITS_FIGURE = "the figure {word} is not its"
    NOT_SAID_TO_BE = "it does not say that it is {word}"
    SAID_TO_BE = "it says that it is {word}"
    SAYS_THAT_OF = "it says that of {word}"
    COMPARES_WITH = "it compares that with {word}"
    LEAVES_OUT = "it does not include {word}"
    SPEAKS_OF = "it speaks of {word}"
    SILENT_ON = "it does not speak of {word}"
    NOT_THERE = "it does not speak of {word} there"
    REVERSED = "it says that the other way round"
    OTHER_WAY_ROUND = "“{word}” is said the other way round"
    CHANGED_PLACES = "“{word}” and “{other}” have changed places"
    ONLY_SHOULD = "it should, and need not"
    MUST = "it must, and may not only"
    NO_CONDITION = "it names no such condition"
    OTHER_NEGATION = "its negation is about something else"
    DENIES = "it denies, or does not"
    NAMES_ALONE = "it has no more of it than names"
    TOO_LONG = "it is too long to be one statement"


IN_OTHER_WORDS: Final = frozenset(
    {
        DifferenceKind.CHANGED_PLACES,
        DifferenceKind.OF_ANOTHER_FIGURE,
        DifferenceKind.OTHER_PLACE,
        DifferenceKind.COMPARED_PLACE,
        DifferenceKind.OTHER_WAY_ROUND,
        DifferenceKind.REVERSED,
        DifferenceKind.OF_SOMETHING_ELSE,
    }
)
"""What looks like a contradiction, and may be the same in other words."""

_NEGATIONS: Final = frozenset({"not", "no", "never", "without", "nor", "neither", "none", "cannot"})


@dataclass(frozen=True, slots=True)
class Difference:
    """What speaks against a sentence as the proof of a statement, with the words that it is about.

    `is_against`: the sentence says otherwise.
    """

    kind: DifferenceKind
    word: str = ""
    other: str = ""
    is_against: bool = False

    @property
    def is_denial(self) -> bool:
        """Whether one of the two denies what the other says."""
        is_word = self.kind in {
            DifferenceKind.SAYS,
            DifferenceKind.LACKS,
            DifferenceKind.SAYS_OF,
            DifferenceKind.OF_SOMETHING_ELSE,
            DifferenceKind.LESS_OFTEN,
        }
        return self.kind is DifferenceKind.OTHER_NEGATION or (is_word and self.word in _NEGATIONS)

    @property
    def why(self) -> str:
        """The difference in words."""
        return self.kind.value.format(word=self.word, other=self.other)


def is_of(difference: Difference | None, kinds: AbstractSet[DifferenceKind]) -> bool:
    """Whether a difference is of one of these kinds."""
    return difference is not None and difference.kind in kinds
