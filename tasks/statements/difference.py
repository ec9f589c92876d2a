"""What a sentence says otherwise than a statement: kinds for code, sentences for people."""

from dataclasses import dataclass
from enum import Enum


class DifferenceKind(Enum):
    """A way in which a sentence differs from a statement, with the words that say so."""

    FIGURE = "The source gives “{theirs}”, the statement “{ours}”."
    NAME = "The source names “{theirs}”, the statement “{ours}”."
    DENIED = "The source denies what the statement says."
    NOT_DENIED = "The statement denies what the source says."
    OPPOSITE = "The source says “{theirs}”, the statement the opposite: “{ours}”."
    MISSING = "The nearest sentence of the source does not say “{ours}”."
    NO_FIGURE = "The nearest sentence of the source does not give “{ours}”."
    OTHER_FIGURE = "The source gives “{ours}” for something else."
    OTHER_PERIOD = "The source speaks of another time: “{theirs}”."
    LIMITED = "The source limits what it says: “{theirs}”."
    NOT_LIMITED = "The statement limits what the source does not: “{ours}”."
    PART = "The source speaks of a part, or of something narrower: “{theirs}”."
    ROLES = "The source says it the other way round."
    SOMEBODY_ELSE = "The source says it of somebody else: “{theirs}”."
    TOO_LONG = "It is too long to be one statement."


@dataclass(frozen=True, slots=True)
class Difference:
    """What a sentence says otherwise, or does not say: the words of the statement and those of the sentence."""

    kind: DifferenceKind
    ours: str = ""
    theirs: str = ""

    @property
    def why(self) -> str:
        """The difference as a sentence."""
        return self.kind.value.format(ours=self.ours, theirs=self.theirs)
