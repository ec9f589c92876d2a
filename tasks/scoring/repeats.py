"""Repeated judgements of one criterion taken together: the score in the middle, and how many agree with it.

A judge that is asked the same twice may answer twice; one answer alone does not show it.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from statistics import median_low

from storage.scores import ScoreStatus
from tasks.scoring.evidence import Found
from tasks.scoring.finding import Contradiction, Finding, Quotation

# Of equally many, what claims less.
_CAUTIOUS_FIRST = (ScoreStatus.UNSUPPORTED, ScoreStatus.MISSING, ScoreStatus.SCORED)


def taken_together(findings: Sequence[Finding]) -> Finding:
    """One finding for what several judgements of the same criterion gave; of a single one, that one.

    Most of those that came out decide whether there is a score. It is the median, of an even number the
    lower of the two in the middle: a score that was given. `agreement` is the share of all repeats, failed
    ones too, that came out like it. The first of these gives the reason; the quotations are those of all
    of them. When every repeat failed, so did the criterion.
    """
    if len(findings) == 1:
        return findings[0]
    came_out = [each for each in findings if not each.failed]
    if not came_out:
        return findings[0]
    alike = _alike(came_out)
    confidences = [each.confidence for each in alike if each.confidence is not None]
    return replace(
        alike[0],
        reason=alike[0].reason + _failures(findings),
        quotes=_joined(alike),
        confidence=median_low(confidences) if confidences else None,
        agreement=len(alike) / len(findings),
        contradictions=_contradictions(alike),
    )


def _alike(came_out: Sequence[Finding]) -> list[Finding]:
    """Those of the status that most have and, where they are scores, of the score in the middle."""
    counts = Counter(each.status for each in came_out)
    status = max(_CAUTIOUS_FIRST, key=lambda each: counts[each])  # the first one of equals
    alike = [each for each in came_out if each.status is status]
    scores = [each.score for each in alike if each.score is not None]
    if not scores:
        return alike
    middle = median_low(scores)
    return [each for each in alike if each.score == middle]


def _failures(findings: Sequence[Finding]) -> str:
    failed = [each for each in findings if each.failed]
    return f" ({len(failed)} of {len(findings)} judgements failed. {failed[0].reason})" if failed else ""


def _joined(alike: Sequence[Finding]) -> list[Quotation]:
    """The quotations of all, each once, those that stand first; the first finding's keep their numbers."""
    kept: dict[Hashable, Quotation] = {}
    for quote in (quote for each in alike for quote in each.quotes):
        kept.setdefault(_span(quote.found) if quote.found else quote.text, quote)
    return sorted(kept.values(), key=lambda quote: quote.found is None)


def _contradictions(alike: Sequence[Finding]) -> list[Contradiction]:
    kept: dict[Hashable, Contradiction] = {}
    for each in (each for finding in alike for each in finding.contradictions):
        kept.setdefault(frozenset((_span(each.one), _span(each.other))), each)
    return list(kept.values())


def _span(found: Found) -> tuple[str, int, int]:
    return found.document.document_id, found.start, found.end
