"""Answers in free text: the General AI Question, and the check of what a model's answer states.

`ai_question` answers from a context if one is given. If the question asks for the model's own words (a score, a draft,
a calculation), those that the context does not contradict are kept.

`check_answer` combines the check by words (`tasks.statements`) with a second one: another call, in which the model sees
only each statement and its source. Both verdicts are shown. The call is optional: if it fails, or returns anything but
verdicts, the check by words stands alone and the log says so. `second_opinions` makes the call; it also checks the
reasons of judgements (`tasks.scoring.judge`).
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from tasks.ai.answerer import AiSettings, Answer, Answerer, AnswererFailed, NotAsked, Source
from tasks.ai.calls import answer_key, answer_once, judge_once
from tasks.ai.extractive import nearby, quote_sentences
from tasks.ai.prompt_injection import without_injections
from tasks.ai.registry import current_answerer, with_names
from tasks.errors import DiligenceError, check_question
from tasks.language.normalise import one_line
from tasks.language.sentences import sentences
from tasks.language.words import tokens
from tasks.offload import offload
from tasks.operation import operation
from tasks.privacy import signature_names
from tasks.spending.budget import Ledger, make_question_ledger
from tasks.statements.answers import CheckedAnswer, CheckedStatement, Ground, assemble_answer, prove
from tasks.statements.check import Finding, nearest
from tasks.statements.figures import figures

log = logging.getLogger(__name__)

_MOST: Final = 40
"""Statements of one call; an answer has few."""
_LONGEST: Final = 1500
"""Characters of a source's sentences for one statement."""

LEFT_OUT: Final = "The model's answer was left out: the {} not say it."

Opinion = Literal["supported", "contradicted", "not said"]

_failed: Final = dict[str, str]()
"""What a model said in place of verdicts, by the call's key."""
_MOST_FAILED: Final = 10_000

_INSTRUCTIONS: Final = (
    "The material has numbered statements, each with sentences of its source. Say of each statement whether these "
    "sentences alone support it. supported: they say the same, with the same subject, figures, units, dates and "
    "conditions. contradicted: they speak of the same and say otherwise; quote the words that do, to the letter. not "
    "said: neither. A statement may be in another language than its source. Use nothing but the sentences beside a "
    "statement, and give one verdict for each number."
)


class StatementVerdict(BaseModel):
    """The verdict on one statement."""

    statement: int = Field(description="the number of the statement")
    verdict: Opinion = Field(description="what its source's sentences say of it")
    words: str = Field(
        default="",
        description="where contradicted: the words of a sentence that say otherwise, to the letter; else empty",
        json_schema_extra={"maxLength": 400},
    )


class StatementVerdicts(BaseModel):
    """The verdicts on all statements of an answer."""

    verdicts: list[StatementVerdict] = Field(description="one for each statement")


@dataclass(frozen=True, slots=True)
class Proof:
    """A checked answer, and sentences on how it was checked, to be shown below it.

    `stands`: at least one statement is shown in the model's own words.
    """

    answer: CheckedAnswer
    notes: tuple[str, ...]
    stands: bool


def check_answer(
    answer: str,
    question: str,
    company: str,
    grounds: Sequence[Ground],
    answerer: Answerer,
    *,
    ledger: Ledger | None = None,
    strict: bool = False,
    keeps_own: bool = False,
    rules: str = "",
) -> Proof:
    """An answer checked by the words of its sources and, in a separate call, by the model.

    `keeps_own` is for questions that ask for the model's own words (a score, a draft): statements that no source
    supports stay, unless a source contradicts them. `rules` are what the model was told besides the question: to repeat
    them is no answer, whatever the model says of it. The other arguments are those of `tasks.statements.answers.prove`.
    """
    echoed = set(tokens(f"{rules} {company}"))
    by_words = offload(prove, answer, question, company, grounds, strict=strict)
    opinions: dict[int, Opinion] = {}
    try:
        opinions = second_opinions(answerer, by_words.statements, company, grounds, ledger=ledger)
    except DiligenceError as error:
        log.warning(
            "The second check of an answer's statements failed (%s): they are checked by words only.", error.slug
        )
    remarks: dict[int, str] = {}
    kept: set[int] = set()
    own = 0
    for place, statement in enumerate(by_words.statements):
        opinion = opinions.get(place)
        if statement.stands:
            if opinion in {"contradicted", "not said"}:
                remarks[place] = f"(by its words: supported; second check: {opinion})"
        elif (
            statement.verdict is Finding.NOT_FOUND
            and opinion == "supported"
            and not echoed.issuperset(tokens(statement.text))
            and offload(_has_figures, statement, company, grounds)
        ):
            kept.add(place)
            numbers = "".join(f"[{number}]" for number in statement.numbers)
            source = f"; the source: “{statement.quote}” {numbers}".rstrip() if statement.quote else ""
            remarks[place] = f"(by its words: not found; second check: supported{source})"
        elif statement.verdict is Finding.NOT_FOUND and keeps_own:
            kept.add(place)
            own += 1
    checked = assemble_answer(by_words.statements, remarks, kept)
    return Proof(checked, tuple(_notes(checked, own, opinions)), bool(checked.text or kept))


def second_opinions(
    answerer: Answerer,
    statements: Sequence[CheckedStatement],
    company: str,
    grounds: Sequence[Ground],
    *,
    ledger: Ledger | None = None,
) -> dict[int, Opinion]:
    """The model's verdict on each statement, by the statement's position; empty if the settings want no check.

    A contradiction whose quoted words are not in the source counts as "not said".

    Raises:
        DiligenceError: the call failed. What the model itself failed at is not asked for again.
    """
    places = [place for place, statement in enumerate(statements) if not statement.is_about_sources][:_MOST]
    if not answerer.judges or not places or not AiSettings.current().ai_statement_check:
        return {}
    material = offload(_material, [statements[place] for place in places], company, grounds)
    key = answer_key(answerer, _INSTRUCTIONS, material, StatementVerdicts)
    if (failure := _failed.get(key)) is not None:
        raise AnswererFailed(failure)
    try:
        verdict = judge_once(answerer, _INSTRUCTIONS, material, StatementVerdicts, ledger=ledger)
    except NotAsked:
        raise
    except AnswererFailed as error:
        if len(_failed) < _MOST_FAILED:
            _failed[key] = error.message  # a model that cannot do it is not paid for the same again
        raise
    opinions: dict[int, Opinion] = {}
    for each in verdict.value.verdicts:
        if 1 <= each.statement <= len(places):
            place = places[each.statement - 1]
            said = "\n".join(offload(_sentences, statements[place], company, grounds))
            is_proved = each.verdict != "contradicted" or _stands_in(each.words, said)
            opinions[place] = each.verdict if is_proved else "not said"
    return opinions


def _stands_in(words: str, said: str) -> bool:
    """Whether a quotation occurs in the sentences; a contradiction without a quotation does not count."""
    quoted = one_line(words).strip(" \"'“”„«».").casefold()
    return bool(quoted) and quoted in one_line(said).casefold()


def _material(statements: Sequence[CheckedStatement], company: str, grounds: Sequence[Ground]) -> str:
    return "\n\n".join(_entry(number, statement, company, grounds) for number, statement in enumerate(statements, 1))


def _entry(number: int, statement: CheckedStatement, company: str, grounds: Sequence[Ground]) -> str:
    listed = "\n".join(f"- {sentence}" for sentence in _sentences(statement, company, grounds))
    return f"Statement {number}: {one_line(statement.text)}\nSentences of its source:\n{listed[:_LONGEST]}"


def _sentences(statement: CheckedStatement, company: str, grounds: Sequence[Ground]) -> list[str]:
    """The sentences to check the statement against: the one that the check by words found, and others like it."""
    texts = [ground.text for ground in grounds]
    found = [one_line(sentence) for sentence in nearest(statement.text, texts, company)]
    return list(dict.fromkeys(filter(None, (statement.quote, *found)))) or [
        one_line(text[:_LONGEST]) for text in texts[:1]
    ]


def _has_figures(statement: CheckedStatement, company: str, grounds: Sequence[Ground]) -> bool:
    """Whether the sentences contain every figure of the statement: a model's word alone proves no figure."""
    there = figures("\n".join(_sentences(statement, company, grounds)))
    return all(
        any((figure.value, figure.date) == (other.value, other.date) for other in there)
        for figure in figures(statement.text)
    )


def _notes(checked: CheckedAnswer, own: int, opinions: dict[int, Opinion]) -> list[str]:
    notes = []
    if left_out := checked.left_out:
        what = "One of the model's statements was" if left_out == 1 else f"{left_out} of the model's statements were"
        notes.append(f"{what} left out: the sources do not say it.")
    if checked.replaced == 1:
        notes.append("In place of one of the model's statements the sentence of its source stands.")
    elif checked.replaced:
        notes.append(f"In place of {checked.replaced} of the model's statements the sentences of their sources stand.")
    if own:
        everything = len(checked.statements)
        notes.append(
            f"The model's own words, which no sentence of the sources supports: {own} of {everything} statements."
        )
    if opinions:
        counts = Counter(opinions.values())
        supported = sum(checked.statements[place].stands for place in opinions)
        notes.append(
            f"Statements that the words of a source support: {supported} of {len(opinions)}. A second check by the "
            f"model, against the sources' sentences alone: {counts['supported']} supported, {counts['contradicted']} "
            f"contradicted, {counts['not said']} not said."
        )
    return notes


_ASKS_FOR_OWN_WORDS: Final = re.compile(
    r"\b(?:scor\w*|rat(?:e|es|ing|ings)|rank\w*|grad(?:e|es|ing)|assess\w*|evaluat\w*|judg\w*|opinion|think|recommend\w*|suggest\w*|"
    r"should|draft\w*|write|rewrite|rephrase|translat\w*|calculat\w*|comput\w*|estimat\w*|compare|propos\w*|imagine|brainstorm|"
    r"bewert\w*|beurteil\w*|schreib\w*|übersetz\w*|berechn\w*|empfiehl\w*|empfehl\w*)\b",
    re.IGNORECASE,
)


class AiAnswer(BaseModel):
    """The answer, with the question and context as they were sent. Without a context the JSON has no `context`."""

    question: str
    context: str | None = None
    answer: str

    @model_serializer(mode="wrap")
    def _without_absent_context(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = handler(self)
        if self.context is None:
            fields.pop("context", None)
        return fields


@operation(name="ai_question")
def ai_question(question: str, context: str | None = None) -> AiAnswer:
    """Answer `question`, with `context` as the text to answer from.

    Without a model the answer is quoted from the context, and says so. From a model's answer, only what a sentence of
    the context supports is kept; the rest is replaced by the sentence on the same subject, or left out and counted at
    the end of the answer. The answer also says where words of the context give orders to a model, and whether a context
    longer than the model accepts was read in parts. The same question with the same context is paid for only once.
    Answer and check together stay within the budget of a run; what it has too little left for is not asked.

    Raises:
        BadRequest: the question is blank.
        tasks.spending.budget.BudgetSpent: the answer alone could cost more.
        tasks.errors.DiligenceError: the model could not be called, or gave no answer.
    """
    check_question(question)
    sources = [Source(1, "context", None, context)] if context and context.strip() else []
    answerer = with_names(current_answerer(), lambda: signature_names(context or ""))
    ledger = make_question_ledger()
    answer = answer_once(answerer, question, sources, ledger=ledger)
    if sources and answerer.model is not None:
        answer = _check(answer, question, sources, answerer, ledger)
    return AiAnswer(question=question, context=context, answer=answer.text_with_notes)


def _choose_proof(statements: Sequence[str], text: str) -> str:
    """The part of a text that the statements are checked against."""
    return nearby(statements, without_injections(text)[0])


def _check(answer: Answer, question: str, sources: list[Source], answerer: Answerer, ledger: Ledger | None) -> Answer:
    """The answer reduced to what the context supports, with notes on the check before the answerer's own."""
    # The model is given all of the context. Words that give it orders prove nothing of what it answers.
    statements = sentences(answer.text)
    texts = [(source.number, offload(_choose_proof, statements, source.text)) for source in sources]
    grounds = [Ground(number, None, text, text) for number, text in texts]
    own_words = _ASKS_FOR_OWN_WORDS.search(question) is not None
    proof = check_answer(answer.text, question, "", grounds, answerer, ledger=ledger, keeps_own=own_words)
    if proof.stands:
        return replace(answer, text=proof.answer.shown, notes=(*proof.notes, *answer.notes))
    text = offload(quote_sentences, question, sources)
    parts = (LEFT_OUT.format("context does"), proof.answer.shown, text)
    return replace(answer, text="\n\n".join(filter(None, parts)))
