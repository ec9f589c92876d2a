"""The figures that a table may hold, and those of them that nothing else in the table makes doubtful."""

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Final

from tasks.figures.concepts import plain_label
from tasks.figures.figure import Basis, Figure, Findings
from tasks.figures.table_labels import WHOLE

_PLAIN_EQUITY: Final = re.compile(
    r"(?:total |consolidated |net |common |s |and )*"
    r"(?:(?:share|stock)(?:holders?|owners?)|owners?|members?|partners?|assets|equity|deficit|deficiency|funds"
    r"|investment|capital|reserves|net|s| )+"
)
_CONTINUING: Final = re.compile(r"\bcontinuing\b(?! and discontinued)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A figure that may be taken, with how sure its label is, the section it stands in, and its table."""

    figure: Figure
    rank: int
    section: str
    weight: int
    consolidated: bool = False
    table: int = -1

    def of_concept(self, concept: str) -> "Candidate":
        """The same number, meaning something else."""
        return replace(self, figure=replace(self.figure, concept=concept))


def settled(candidates: list[Candidate], findings: Findings) -> list[Candidate]:
    """The candidates of one table without those that another of their concept and period makes doubtful."""
    strong = {candidate.figure.concept for candidate in candidates if candidate.rank < 2}
    groups: dict[tuple[str, str, str | None, Basis | None, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        figure = candidate.figure
        if candidate.rank == 2 and figure.concept in strong:
            continue
        groups[figure.concept, figure.period, figure.entity, figure.basis, figure.variant].append(candidate)
    kept: list[Candidate] = []
    for whole_group in groups.values():
        group = _of_the_owners(_with_all_operations(whole_group))
        best = min(candidate.rank for candidate in group)
        sure = [candidate for candidate in group if candidate.rank == best]
        if len({candidate.figure.value for candidate in sure}) == 1:
            kept.append(sure[0])
            continue
        whole = [candidate for candidate in sure if WHOLE.match(candidate.section.rstrip(": "))] if best else sure[-1:]
        if len({candidate.figure.value for candidate in whole}) == 1 and whole:
            kept.append(whole[0])
            sure = [candidate for candidate in sure if candidate is not whole[0]]
        by_section: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in sure:
            by_section[candidate.section.rstrip(": ")].append(candidate)
        for section, members in by_section.items():
            if section and not WHOLE.match(section) and len(members) == 1 and best and len(by_section) > 1:
                kept.append(replace(members[0], figure=replace(members[0].figure, entity=section[:80])))
            else:
                findings.leave_out("rows of one concept that differ", len(members))
    return kept


def _of_the_owners(group: list[Candidate]) -> list[Candidate]:
    """Of rows of equity that differ those that name whose it is: below them the other owners' is added."""
    if group[0].figure.concept != "equity" or len({candidate.figure.value for candidate in group}) == 1:
        return group
    named = [candidate for candidate in group if not _PLAIN_EQUITY.fullmatch(plain_label(candidate.figure.label))]
    return named or group


def _with_all_operations(group: list[Candidate]) -> list[Candidate]:
    """Of rows of one concept those that are not of continuing operations alone, where there are others."""
    return [each for each in group if not _CONTINUING.search(each.figure.label)] or group
