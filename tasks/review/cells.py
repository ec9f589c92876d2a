"""The decisions about a cell of a table: which are in force, and which are open again.

A value that a person set counts in place of the program's, which stays beside it. If the document later says something
else, that value stays but is open: somebody must look at it. A sign-off reopens then, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from storage.decisions import Decision, DecisionKind, in_force
from tasks.review.evidence import is_same
from tasks.table.columns import Column


@dataclass(frozen=True)
class CellReview:
    """A cell's decisions, oldest first, compared with its `evidence` (see `tasks.review.evidence.name_cell`)."""

    column: Column
    evidence: Mapping[str, Any]
    log: Sequence[Decision]

    @cached_property
    def held(self) -> list[Decision]:
        """The decisions in force, oldest first."""
        return in_force(self.log)

    @property
    def newest(self) -> int:
        """The id of the newest decision, undone or not, which the next one follows; 0 without one."""
        return max((decision.id or 0 for decision in self.log), default=0)

    @property
    def override(self) -> Decision | None:
        """The decision whose value counts."""
        return next((one for one in self.held if one.kind is DecisionKind.OVERRIDE), None)

    @cached_property
    def signed(self) -> int:
        """The id of the sign-off of what is now shown; 0 without one."""
        overridden = self.override.id or 0 if self.override else 0
        signed = [one for one in self.held if one.kind is DecisionKind.SIGN_OFF and (one.id or 0) > overridden]
        return next((one.id or 0 for one in signed if is_same(one.evidence, self.evidence)), 0)

    def is_open(self, decision: Decision) -> bool:
        """Whether somebody must look at a decision that is in force."""
        match decision.kind:
            case DecisionKind.SIGN_OFF:
                return decision.id != self.signed
            case DecisionKind.OVERRIDE:
                return not is_same(decision.evidence, self.evidence) and not self.signed
            case DecisionKind.FLAG | DecisionKind.ASSIGNMENT:
                return self.signed < (decision.id or 0)
            case _:
                return False
