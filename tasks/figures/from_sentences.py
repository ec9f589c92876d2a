"""Figures from sentences: "revenue grew 22 % to € 9.4 million in the year to 31 March 2025".

A sentence gives a figure if a concept is its subject and an amount follows that is not a change ("by 22 %"), a bound
("between", "at least") or another period's ("from € 7.7 million"). If a word before the concept names a part
("subscription revenue", "cost of revenue"), it is another concept, and is left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from tasks.figures import mentions as words
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import (
    BEFORE,
    SHORT_NAMES,
    WORDS,
    Basis,
    Concept,
    Figure,
    Findings,
    Taxonomy,
    find_basis,
    lower_text,
    spots,
    words_in,
)
from tasks.figures.mentions import Mention, Mentions, count_figures, find_mentions, is_hypothetical
from tasks.figures.sentence_periods import (
    AND,
    SEVERAL,
    SeveralError,
    Spoken,
    behind_it,
    find_period,
    in_brackets,
    own_period,
    read_compared_year,
    share_out,
    shift_amount,
    times,
)
from tasks.figures.table_figures import NEVER_NEGATIVE, sign_value
from tasks.language.numbers import PERCENT, Amount, amounts
from tasks.language.periods import When, count_months, find_periods
from tasks.language.sentences import place_sentences
from tasks.language.words import look_up

_LONGEST: Final = 600
"""Characters of a sentence that is looked at."""
_DIGIT: Final = re.compile(r"\d")
_GLUED: Final = re.compile(r"\d{3}\)?[A-Z][a-z]")
"""A label that is glued to the number before it: several in a line are a table without its cells."""
_SPOKEN: Final = re.compile(r"\A(?=\D*+\d)(?:[^\t]*\Z|[\s\S]*?(?:[.!?…][)\]\"'”’»]*\s|[。！？]))")
"""A paragraph with a number; a row of cells is one where a sentence ends in it."""
_FAR: Final = 120
"""Characters behind a concept in which its amount stands."""
_BESIDE: Final = 10
"""Characters behind a bound in which the amount itself may stand: "just shy of $20m at $19.8m"."""
_NEAR: Final = 40
"""Characters before a concept in which its amount may stand."""
_ITEM: Final = re.compile(r"^[-–—](?= )")
"""Before an item of a list, where it is no minus."""
_GENITIVE: Final = re.compile(r"([A-ZÄÖÜÉ]\w{2,})['’]s")
_FIRST_LINES: Final = 400
"""Characters of a document, or the head of a mail, that name the company it is of."""
_ABBREVIATED: Final = re.compile(r"\b(?:[A-Z]\.){2,}\s*$")
"""A full stop that ends no clause: "U.S. net sales"."""
_DOES: Final = frozenset({"turned over"})
"""Mentions that are verbs: who does it stands before."""
_LENGTHS: Final = {"dai": 0, "day": 0, "wee": 0, "mon": 1, "moi": 1, "mes": 1, "maa": 1, "qua": 3}
_RATE: Final = re.compile(r"\b(daily|weekly|monthly|quarterly)(?: \w+)?\s*$", re.IGNORECASE)
"""Words before a concept that say of how many months an amount is: "monthly revenue", "quarterly net sales"."""
_YEAR: Final = 12
_ANNUAL: Final = re.compile(r"\barr\b|annual", re.IGNORECASE)


def sentence_figures(document: LedgerDocument, taxonomy: Taxonomy, findings: Findings) -> Iterator[Figure]:
    """The figures of a document's sentences; amounts without a period are counted as left out in `findings`."""
    mentions = find_mentions(taxonomy, document.language if document.language in SHORT_NAMES else "")
    spoken = Spoken(document)
    listed: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    named: dict[tuple[str, str], list[tuple[str, Figure]]] = defaultdict(list)  # beside names that are their subjects
    for spoken_words in place_sentences(document.text, wraps=document.wraps, holding=_SPOKEN):
        sentence = spoken_words.text[:_LONGEST]
        if "\t" in sentence or not _DIGIT.search(sentence) or len(_GLUED.findall(sentence)) > 1:
            continue
        spoken.begin(spoken_words.place(0), spoken_words.place(len(sentence) - 1) + 1)
        for figure in _of_sentence(document, taxonomy, mentions, sentence, findings, spoken):
            start = spoken_words.place(figure.start)
            stop = spoken_words.place(figure.end - 1) + 1
            placed = replace(figure, place=document.place(start), start=start, end=stop)
            subject = _find_other_name(document, sentence, spoken.start)
            if spoken.start in spoken.of_lists:
                listed[figure.concept, figure.period].append(placed)
            elif subject:
                named[figure.concept, figure.period].append((subject["name"].partition(" ")[0], placed))
            else:
                yield placed
    for figures in listed.values():
        if len({figure.value for figure in figures}) == 1:
            yield from figures
        else:  # lists of several companies or parts
            findings.leave_out("lists that differ", len(figures))
    for of_names in named.values():
        if len({name for name, _ in of_names}) == 1 or len({figure.value for _, figure in of_names}) == 1:
            yield from (figure for _, figure in of_names)
        else:
            findings.leave_out("sentences about several companies", len(of_names))


def _of_sentence(
    document: LedgerDocument, taxonomy: Taxonomy, mentions: Mentions, sentence: str, findings: Findings, spoken: Spoken
) -> Iterator[Figure]:
    """The figures of one sentence, with their positions in it."""
    whole, lower_whole = sentence, lower_text(sentence)
    may_name = any(stem in lower_whole for stem in words.PART_STEMS)
    segments = list(WORDS.named_part.finditer(sentence)) if may_name else []
    for part in segments:  # what is said of a part is said as of the company, and then is the part's
        sentence = f"{sentence[: part.start()]}{' ' * len(part.group())}{sentence[part.end() :]}"
    lower = lower_text(sentence) if segments else lower_whole
    mentioned: set[tuple[str, int]] = set()
    for listed in _lists(mentions.find(lower, sentence), sentence):
        try:
            figures = list(_of_mentions(document, listed, sentence, findings, spoken))
        except SeveralError:
            findings.leave_out(SEVERAL)
            continue
        mentioned.update((figure.concept, figure.start) for figure in figures)
        for figure in figures:
            yield replace(figure, entity=_part(segments, sentence, figure))
    for figure in count_figures(document, taxonomy, whole, lower_whole, spoken, findings):
        if (figure.concept, figure.start) not in mentioned:
            yield figure


def _part(segments: list[re.Match[str]], sentence: str, figure: Figure) -> str | None:
    """The part of the company that a figure is about: the one named before it, if no other amount is in between."""
    before = [part for part in segments if part.end() <= figure.start]
    between = sentence[before[-1].end() : figure.start] if before else ";"
    if ";" in between or WORDS.of_the_group.search(between) or any(amount.unit for amount in amounts(between)):
        return None
    return before[-1]["front"] or before[-1]["behind"]


def _lists(found: Iterable[Mention], sentence: str) -> Iterator[list[Mention]]:
    """The mentions in a sentence, with those of one list grouped together: "revenue, gross profit and EBITDA"."""
    listed: list[Mention] = []
    for concept, match in found:
        between = sentence[listed[-1][1].end() : match.start()] if listed else ""
        if listed and WORDS.between_listed.fullmatch(between) and all(concept is not other for other, _ in listed):
            listed.append((concept, match))
            continue
        yield from _join_mentions(listed, sentence)
        listed = [(concept, match)]
    yield from _join_mentions(listed, sentence)


def _join_mentions(listed: list[Mention], sentence: str) -> Iterator[list[Mention]]:
    if len(listed) > 1 and AND.search(sentence[listed[-2][1].end() : listed[-1][1].start()]):
        yield listed
    else:
        yield from ([mention] for mention in listed)


def _of_mentions(
    document: LedgerDocument, listed: list[Mention], sentence: str, findings: Findings, spoken: Spoken
) -> Iterator[Figure]:
    """The figures of one concept, or of several that are listed before their amounts.

    Raises:
        SeveralError: it is not certain which amount is of which concept or time.
    """
    concept, match = listed[-1]
    before = sentence[: listed[0][1].start()]
    ahead = _amount_ahead(document, concept, sentence, before, match) if len(listed) == 1 else None
    if ahead is not None:
        if not document.is_behind_a_name(spoken.start):
            figure = _figure(document, concept, match, ahead, None, sentence, findings, spoken)
            yield from filter(None, (figure,))
        return
    if not _stands_alone(document, concept, match, sentence, before, spoken):
        return
    amount = _amount_behind(document, concept, match, sentence)
    if amount is None:
        return
    shares = share_out(document, sentence, amount, len(listed))
    below = _is_below(sentence, match, amount)
    named = listed if len(listed) > 1 else listed * len(shares)
    if not all(_fits(share, each) for (each, _), (share, _) in zip(named, shares, strict=True)):
        raise SeveralError
    for (each, where), (share, when) in zip(named, shares, strict=True):
        sign = -1 if below and each.sign != "positive" and share.value > 0 else 1
        signed = replace(share, value=sign * share.value)
        figure = _figure(document, each, where, signed, when, sentence, findings, spoken)
        yield from filter(None, (figure,))
        if figure is not None and when is None and len(listed) == 1:
            rest = sentence[amount.end :]
            compared = WORDS.compared_in_brackets.match(rest)
            at = amount.end
            other = in_brackets(document, figure, compared, at) if compared else behind_it(document, figure, rest, at)
            yield from filter(None, (other,))


def _stands_alone(
    document: LedgerDocument, concept: Concept, match: re.Match[str], sentence: str, before: str, spoken: Spoken
) -> bool:
    """Whether the words around a mention leave no doubt that it means the whole company and what actually happened."""
    behind = sentence[match.end() :]
    if match.group() in words.CASH and (
        WORDS.cash_paid.match(behind) or WORDS.said_paid_in.search(before) or WORDS.said_net.search(before)
    ):
        return False
    before = WORDS.said_of_the_concept.sub("", before) or before
    word = re.search(r"([^\s(“\"]+)\s*$", before)
    clause_start = word is None or (
        before.rstrip().endswith((",", ";", ":", "•", "-", "–", "—", "(", ".", "/")) and not _ABBREVIATED.search(before)
    )
    if (
        not clause_start
        and word
        and match.group() not in words.CLAUSES
        and WORDS.sentence_article.sub(r"\1", word.group(1).lower()).strip("“\"'()") not in BEFORE
        and not re.fullmatch(r"(?:19|20)\d\d|FY\d\d+|Q\d|H\d", word.group(1))
        and not _is_own_name(document, word.group(1) + ("'s" if match.group() in _DOES else ""), spoken.start)
        and not (match.group() in _DOES and word.group(1).lower() in {"we", "it", "business", "firm"})
    ):
        return False
    if _is_of_another_name(document, sentence, spoken.start):
        return False
    if (
        WORDS.share_or_change_before.search(before)
        or WORDS.said_of_others.search(before)
        or WORDS.said_of_others_behind.match(behind)
    ):
        return False
    if WORDS.another_thing.match(behind) or (
        match.group() in words.STATED_ALONE and words.STATED_AMOUNT.match(behind) is None
    ):
        return False
    if WORDS.no_concept_before.match(behind) and not (
        concept.id == "recurring_revenue" and re.match(r"\s*from contracts", behind)
    ):
        return False
    return not is_hypothetical(sentence, match.start()) or WORDS.said_plan.search(sentence) is not None


def _amount_behind(document: LedgerDocument, concept: Concept, match: re.Match[str], sentence: str) -> Amount | None:
    """The amount behind a mention that the words in between link to it, with its position."""
    behind = sentence[match.end() :]
    bound = _FAR
    for amount in _amounts_behind(document, concept, behind):
        if amount.start > min(_FAR, bound):
            return None
        is_bare = amount.unit is None
        if is_bare and not amount.scale and "count" not in concept.units:
            continue
        if is_bare and any(when.start <= amount.start < when.stop for when in find_periods(behind)):
            continue
        if not _fits(amount, concept):
            if amount.unit == PERCENT:
                continue
            return None
        lead = behind[: amount.start]
        lead = WORDS.said_aside.sub(
            " ",
            WORDS.said_respectively.sub("", WORDS.said_currency_last.sub("", lead.rstrip()) if amount.unit else lead),
        )
        below = _is_below(sentence, match, shift_amount(amount, match.end()))
        if not below and WORDS.said_change.search(lead):
            continue
        if not below and WORDS.said_bound.search(lead):
            bound = amount.end + _BESIDE
            continue
        of_another = match.group() in lead.lower()  # the nearer mention tells
        if of_another or not _is_linked(concept, match, sentence, amount, lead, below=below):
            return None
        return shift_amount(amount, match.end())
    return None


def _is_linked(
    concept: Concept, match: re.Match[str], sentence: str, amount: Amount, lead: str, *, below: bool
) -> bool:
    """Whether the words between a mention and an amount say that it is the amount, and not a part or change of it."""
    rest = sentence[match.end() + amount.end :]
    lead = _without_last_period(lead)
    plain = re.sub(r"\([^()]*\)?", " ", lead)
    linked = WORDS.before_amount.search(lead.rstrip() + " ") or re.fullmatch(r"\s*", lead)
    linked = words.STATED.fullmatch(lead) if match.group() in words.STATED_ALONE else linked
    if (
        not (linked or below)
        or WORDS.of_more.search(plain)
        or WORDS.beside_concept.search(plain)
        or WORDS.said_left_out.search(plain)
    ):
        return False
    if concept.id != "recurring_revenue" and re.search(
        r"\b(?:customer|segment|contract|order|fee|loan|claim|grant|fine)s?\b", plain, re.IGNORECASE
    ):
        return False
    if (
        WORDS.said_range.match(rest)
        or (lead.rstrip().endswith(":") and WORDS.count_to_come.match(rest))
        or WORDS.said_remainder.search(lead)
        or WORDS.behind_amount_of_a_part.search(rest[:120])
    ):
        return False
    if re.match(r"\s*(?:[-–]|to|and|bis)\s*(?:[A-Z]{3} |[$€£])?\d", rest) and re.search(
        r"between|range|from", lead, re.IGNORECASE
    ):
        return False
    borrowed = lead.strip() in {"of", "von", "in Höhe von", "de", "di", "van"} and WORDS.said_drawn.match(rest)
    return concept.id != "debt" or not (WORDS.said_net.search(sentence[: match.start()]) or borrowed)


def _is_below(sentence: str, match: re.Match[str], amount: Amount) -> bool:
    """Whether words say that an amount is negative: "negative at", "a loss of", "the EBITDA loss"."""
    lead = sentence[match.end() : amount.start]
    lead = WORDS.said_currency_last.sub("", lead.rstrip()) if amount.unit else lead
    behind = sentence[amount.end :]
    return any(
        (WORDS.said_loss_behind.match(lead), WORDS.said_negative.search(lead), WORDS.said_negative_behind.match(behind))
    )


def _is_own_name(document: LedgerDocument, word: str, start: int) -> bool:
    """Whether a word is the company's name in the genitive, by the document's first lines."""
    name = _GENITIVE.fullmatch(word)
    return name is not None and _is_in_head(document, name[1], start)


def _is_of_another_name(document: LedgerDocument, sentence: str, start: int) -> bool:
    """Whether a sentence is about a name that the first lines do not have: "Beta, the market's leader, had".

    Where nothing says who that is, other sentences have it too, so that it is no word that begins a sentence.
    """
    subject = _find_other_name(document, sentence, start)
    return subject is not None and (subject["who"] is not None or subject["name"].rstrip(".&-") in document.names)


def _find_other_name(document: LedgerDocument, sentence: str, start: int) -> re.Match[str] | None:
    """The name that is a sentence's subject, if the document's first lines do not have it."""
    subject = WORDS.company_subject.match(sentence)
    if (
        subject is None
        or WORDS.general_subject.search(subject["name"])
        or _is_in_head(document, subject["name"], start)
    ):
        return None
    return subject


def _is_in_head(document: LedgerDocument, name: str, start: int) -> bool:
    """Whether a name occurs in the document's own name, or before an offset in its first lines."""
    said_before = document.text[: min(start, _FIRST_LINES)]
    return re.search(rf"\b{re.escape(name)}\b", f"{document.name.replace('_', ' ')} {said_before}") is not None


def _amount_ahead(
    document: LedgerDocument, concept: Concept, sentence: str, before: str, match: re.Match[str]
) -> Amount | None:
    """The amount that precedes its concept, with its position relative to the end of the mention.

    It begins a line ("$24.7M ARR"), or a verb says that it was made ("we closed the year at $ 12.9M in revenue").
    """
    near = _ITEM.sub(" ", before)[-_NEAR:]
    found = max(amounts(near, comma_decimal=document.comma_decimal), key=lambda each: each.start, default=None)
    if found is None or not _fits(found, concept) or not WORDS.said_of_or_in.fullmatch(near[found.end :]):
        return None
    if match.group() in words.CASH and WORDS.cash_paid.match(sentence[match.end() :]):
        return None
    ahead = max(0, len(before) - _NEAR)
    found = replace(found, start=found.start + ahead, end=found.end + ahead)
    lead = WORDS.said_currency_last.sub("", before[: found.start])
    begins = WORDS.said_headed.fullmatch(lead) or (
        len(before) <= words.SHORT_LEAD and WORDS.said_before_mention.match(lead)
    )
    if not begins and (WORDS.said_before_mention.match(lead) or not _was_made(sentence, lead, match.end(), found)):
        return None
    return found


def _was_made(sentence: str, lead: str, end: int, amount: Amount) -> bool:
    """Whether the words before an amount and after its concept say that all of it was made: "did", "closed at"."""
    behind = sentence[end:]
    if (
        amount.unit in {None, PERCENT}
        or WORDS.said_change.search(lead)
        or WORDS.said_bound.search(lead)
        or WORDS.said_made.search(lead) is None
    ):
        return False
    return not (
        WORDS.no_concept_before.match(behind)
        or WORDS.another_thing.match(behind)
        or WORDS.cash_paid.match(behind)
        or WORDS.set_aside.match(behind)
        or WORDS.behind_amount_of_a_part.search(behind[:120])
    )


def _amounts_behind(document: LedgerDocument, concept: Concept, behind: str) -> Iterator[Amount]:
    """The amounts after a concept; for money, "6,420 lakhs" and "3.1 million" get the document's currency."""
    for amount in amounts(behind, comma_decimal=document.comma_decimal):
        if behind[amount.end : amount.end + 1].isalpha():
            continue  # "93.8T": a scale that is not known
        of_money = amount.unit is None and amount.scale and "money" in concept.units
        yield replace(amount, unit=document.currency.usual) if of_money else amount


def _without_last_period(lead: str) -> str:
    """The words before an amount, without a time period directly before it: "betrug" for "betrug 2024"."""
    lead = WORDS.said_about.sub("", lead)
    found = times(lead)
    if not found or lead[found[-1][-1].stop :].strip(" ,"):
        return lead
    return WORDS.said_period_lead.sub("", lead[: found[-1][0].start].rstrip(" ,"))


def _fits(amount: Amount, concept: Concept) -> bool:
    if amount.unit == PERCENT:
        return "percent" in concept.units
    if amount.unit is None:
        return "count" in concept.units
    return "money" in concept.units


def _figure(
    document: LedgerDocument, concept: Concept, match: re.Match[str], amount: Amount, when: When | None, sentence: str,
    findings: Findings, spoken: Spoken,
) -> Figure | None:  # fmt: skip
    """The figure for a mention; if `when` is not given, the words around it tell the period."""
    label = sentence[slice(*match.span())]
    said = sentence[max(0, match.start() - 40) : amount.start]
    average = concept.kind != "either" or WORDS.sentence_average.search(said) is not None
    instant = concept.kind == "instant" or not average
    instant = instant or (concept.id == "recurring_revenue" and _ANNUAL.search(label) is not None)
    when = when or _find_time(document, sentence, match, amount, spoken, instant=instant)
    period = document.calendar.resolve(when, instant=instant) if when else None
    if when is None or period is None:
        findings.leave_out("no period")
        return None
    spoken.hear(when)
    rate = _RATE.search(sentence[: match.start()]) or WORDS.rate_behind.match(sentence[amount.end :])
    lengths = {count_months(period), 1 if concept.id == "monthly_burn" else None}
    if rate and not instant and "money" in concept.units and look_up(_LENGTHS, rate[1][:3]) not in lengths:
        findings.leave_out("a rate, not the amount of its period")
        return None
    value = sign_value(concept, amount.value, label, is_loss=WORDS.said_loss.search(label) is not None)
    if value < 0 and concept.id in NEVER_NEGATIVE:
        return None
    basis = _find_said_basis(sentence, match, amount)
    unit = document.currency.resolve(amount.unit) if amount.unit and amount.unit != PERCENT else amount.unit or "count"
    return Figure(
        concept.id, label, value, unit, amount.scale, amount.step, period, None, basis, "", "",
        amount.start, amount.end,
    )  # fmt: skip


def _find_time(
    document: LedgerDocument, sentence: str, match: re.Match[str], amount: Amount, spoken: Spoken, *, instant: bool
) -> When | None:
    """The period of an amount: from the words around it, the year it is compared with, or the sentence before."""
    end = max(match.end(), amount.end)
    when = find_period(sentence, match.start(), amount.start, end)
    if WORDS.compared_before.search(sentence[: match.start()]):  # what is compared with another has its own time
        return when if when is not None and when.start >= match.start() else None
    own = own_period(document, sentence, match.start(), amount.end) if when is None else None
    compared = WORDS.compared_in_brackets.match(sentence[end:]) if when is None else None
    of_part = document.is_of_a_quarter or (own and own.months != _YEAR) or WORDS.part_of_a_year.search(sentence, 0, end)
    if compared and (year := read_compared_year(compared)) and not of_part:
        own = When(year=year + 1, months=_YEAR)  # "(2023: € 3.9 m)" behind it: this is the year after
    when = when or own
    return when or spoken.inherit(sentence, min(match.start(), amount.start), match.end(), instant=instant)


def _find_said_basis(sentence: str, match: re.Match[str], amount: Amount) -> Basis | None:
    """The basis that the clause around a mention states for its amount."""
    label, end = sentence[slice(*match.span())], max(match.end(), amount.end)
    ahead = WORDS.said_clause.split(sentence[max(0, match.start() - 60) : match.start()])[-1]
    around = ahead + sentence[match.start() : max(match.end(), amount.end + 60)]
    basis = find_basis(ahead[-25:] + label) or find_basis(sentence[match.end() : amount.start])
    if basis is None and (WORDS.said_plan.search(sentence[: amount.end]) or WORDS.said_planned.match(sentence[end:])):
        basis = "budget" if re.search(r"budget|plan", around, re.IGNORECASE) else "forecast"
    if basis is None and re.search(r"\b(?:unaudited|per budget|in the budget|pro forma)\b", around, re.IGNORECASE):
        basis = find_basis(around)
    return basis


FOUNDING_YEAR: Final = "founding_year"
"""What such a figure's concept is called; its value and its period are the year, its unit is `year`."""
_LONGEST_CLAUSE: Final = 300
_LOOKED_AT: Final = 300_000
"""Characters of a document that are looked at: what a company is stands near the beginning."""


def find_founding_years(document: LedgerDocument) -> Iterator[Figure]:
    """Each place in a document that says when the company itself was founded."""
    text = document.text[:_LOOKED_AT]
    looked = -1
    for spot in spots(lower_text(text), words_in("founding_stems")):
        start = text.rfind("\n", 0, spot) + 1
        if start == looked:
            continue
        looked = start
        end = text.find("\n", spot)
        line = text[start : end if end >= 0 else len(text)]
        for match in WORDS.founded.finditer(line):
            if _is_the_company(line, match):
                name = next(name for name in ("year", "listed", "before") if match[name])
                where = start + match.start(name)
                yield Figure(
                    FOUNDING_YEAR, " ".join(match.group().split())[:80], Decimal(match[name]), "year", "", Decimal(1),
                    match[name], None, None, "", document.place(where), where, start + match.end(name),
                )  # fmt: skip


def _is_the_company(line: str, match: re.Match[str]) -> bool:
    """Whether a match is about the company itself and its founding."""
    opening = max(line.rfind(". ", 0, match.start()) + 1, match.start() - _LONGEST_CLAUSE)
    if WORDS.not_the_founder.search(line[opening : match.end()]):
        return False
    verb, gap = match["verb"] or "", match["gap"] or ""
    if verb[:1].isupper() and line[opening : match.start()].strip(" \t•–-|"):
        return False  # a name: "Corning Incorporated"
    return not WORDS.not_before_founding_year.search(gap) and not (
        verb.startswith("establish") and re.match(r"\s*by\b", gap)
    )
