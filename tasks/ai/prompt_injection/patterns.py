"""The notation in which patterns of prompt injection are written; `patterns_en` and `patterns_other` hold them.

Patterns match normalised text: plain small letters. In a pattern, a space is any white space, a word in capitals stands
for what `_PARTS` says, and `LEAD` marks an imperative. No pattern repeats what repeats, and every gap has an end: time
grows with the text alone.
"""

# ruff: noqa: E501 - a pattern reads best in one line

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What an order looks like. `imperative`: it begins with a verb that must be one; `scores`: it asks for a score."""

    words: re.Pattern[str]
    imperative: bool
    scores: bool


def patterns(*written: str, scores: bool = False) -> tuple[Pattern, ...]:
    """The patterns in this notation."""
    return tuple(
        Pattern(_compiled(each.replace("LEAD", r"\b", 1)), each.startswith("LEAD"), scores) for each in written
    )


def scoring(*written: str) -> tuple[Pattern, ...]:
    """Patterns that ask for a score."""
    return patterns(*written, scores=True)


LEADS: Final = re.compile(
    r"""(?:^|[.!?:;,"'(\[>*#/|-]|(?<!\bmay)(?<!\bnot)(?<!\bto)(?<!shall)(?<!will)(?<!\bor)(?<!can)(?<!could)(?<!would)"""
    r"""(?<!must)(?<!should)\n)\s{0,4}(?:(?:please|kindly|now|and|then|just|simply|so|also|instead,?)\s{1,4}){0,2}(?:always\s{1,4})?$"""
    r"""|\b(?:please|kindly|now|just|then|and|simply|instead|immediately|always|(?:you|models?|assistants?|reviewers?|ais?|llms?)"""
    r"""\s{1,4}(?:must|should|shall|will|have\sto|has\sto|need\sto|are\sto|is\sto|may|can))"""
    r"""(?:\s{1,4}(?:now|always|also|then|only|just|not))?\s{1,4}$"""
)
"""What stands before an imperative: the start of a sentence, line or quotation, or words such as `please`."""
LEAD_LENGTH: Final = 48
"""Characters before a verb in which `LEADS` is searched."""

_PARTS: Final = {
    "AI": r"(?:(?:large |generative )?language[ -]models?|llms?|a\.?i\.?|ais|gpt(?:-\w{1,3})?|chatgpt|claude|gemini|copilot"
    r"|chat ?bots?|artificial intelligences?|(?:virtual|digital) assistants?|machine readers?"
    r"|automated (?:reviewers?|graders?|evaluators?|readers?|screeners?|(?:grading|screening|review|scoring|evaluation) (?:systems?|tools?|agents?)))"
    r"(?:[ -](?:based|powered|driven))?(?: (?:systems?|models?|assistants?|agents?|reviewers?|tools?|bots?|readers?|graders?|evaluators?|judges?"
    r"|screeners?|crawlers?|(?:screening|grading|review|scoring|evaluation) (?:systems?|tools?|agents?)))?",
    "READING": r"(?:reading|processing|parsing|summari[sz]ing|evaluating|analy[sz]ing|reviewing|assessing|scoring|grading|scanning"
    r"|(?:that|which|who) (?:reads?|process(?:es)?|parses?|summari[sz]es?|evaluates?|analy[sz]es?|reviews?|assess(?:es)?|scores?|grades?))"
    r" (?:this|these|the (?:present|following))",
    "IGNORE": r"(?:ignore|disregard|forget|override|overlook|bypass|discard|neglect|skip|drop|pay no attention to)",
    "EARLIER": r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|your|hidden|given|other)",
    "FILL": r"(?:(?:all|any|every|each|of|the|my|your|these|those|this|such|and|or|other|safety|content|received|current|past|entire|own|previous|prior"
    r"|above|earlier|preceding|system|existing|original) ){0,6}",
    "ORDERS": r"(?:instructions?|prompts?|directives?|directions|guidelines?|guidance|rules?|commands?|orders?|programming|training|constraints?|guardrails?|restrictions)",
    "TOP": r"(?:(?:the |a |an? )?(?:absolute )?(?:highest|maximum|max|full|top|best|perfect|excellent|outstanding|highest possible|maximum possible|best possible)"
    r"(?: possible)? (?:scores?|ratings?|marks?|grades?|points|rank(?:ing)?|evaluation|assessment)|(?:5|five|10|ten|100)(?:\.0)? ?"
    r"(?:/|out of|of) ?(?:5|five|10|ten|100)(?!\d)|\b(?:five|5) stars)",
    "SAY": r"(?:say|state|answer|reply|respond|report|write|claim|conclude|tell|assert|declare|confirm|call|mention|inform|use|describe)",
    "YOURS": r"\b(?:your|the) (?:final |overall |own )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review|conclusion|verdict|analysis|rating)",
    "PRAISE": r"\b(?:best|buy|excellent|outstanding|exceptional|flawless|perfect|strong|recommend\w*|approved?|no (?:risks?|issues?|findings?|debt|liabilit\w+|concerns?|litigation)|clean|sound|contacts?)\b",
    "BADNEWS": r"\b(?:risks?|breach\w*|litigation|lawsuits?|disputes?|debts?|loss(?:es)?|negative\w*|weakness\w*|fines?|recalls?|investigations?|covenants?|insolven\w+|impairments?|claims?|problems?|issues?|concerns?|shortcomings?|defaults?)\b",
    "GAP": r"[^.!?]{0,60}?",
}


def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern with its capital words replaced by their parts, and any white space for a space."""
    pattern = re.sub("|".join(_PARTS), lambda name: _PARTS[name.group()], pattern)
    return re.compile(pattern.replace("[ -]", r"[\s-]").replace(" ?", r"\s?").replace(" ", r"\s{1,6}"))
