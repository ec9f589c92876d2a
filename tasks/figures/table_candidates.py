"""The figures that a table may hold, and those of them that nothing else in the table makes doubtful."""

from collections import defaultdict
from dataclasses import dataclass, replace

from tasks.figures.figure import Basis, Figure, Findings
from tasks.figures.table_labels import WHOLE


@dataclass(frozen=True, slots=True)
class Candidate:
    """A figure that may be taken, with how sure its label is, the section it stands in, and its table's weight."""

    figure: Figure
    rank: int
    section: str
    weight: int
    consolidated: bool = False


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
    for group in groups.values():
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
