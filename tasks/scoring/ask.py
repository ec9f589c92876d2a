"""Asks a model for a judgement, and before it for a search plan; and counts what asking would send, for an estimate.

The passages are fitted to the model's window, and it is asked again if the reason is none. A reason that shares no
word with the question and the passages, or that says the same words again and again, does not count. Words are stems
and written forms, so this works for each language that ranking knows, without word lists beyond those of
`tasks.language`.

How much a judgement may read and write is limited, so that a slow server of one's own ends it in time. A judgement,
with all its calls, has a quarter of `DILIGENCE_AI_TIMEOUT` at the speed at which the server wrote of late: calls beside
it may slow it down further, and a second attempt takes as much as the first. What does not fit is left out, the best
first, and said. Only a server whose usual answer alone would take half of that is slow, and only one in the house: at a
public address a model is slow by its thoughts or by the way to it, and answers as many calls as come.

The search plan of a criterion is the model's suggestions of how documents would word what it asks for. Passages are
found by their words, and everyday questions seldom use those of an annual report or a contract. So the model is asked
once for each criterion, not for each company, for wordings to search by. The answer is stored in the answer cache. If
they find nothing, it is asked once more, for others. A plan can only help. Any failure is a warning: passages are then
found by the criterion's own words. A failed plan is not asked for again, nor any other for the same company.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf
from threading import Lock
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict

from tasks.ai.answerer import AiSettings, Answer, Answerer, AnswererFailed, NotAsked, Source, T, Verdict
from tasks.ai.calls import Messages, as_material, judge_once, judgement_prompt, question_prompt
from tasks.ai.openai.protocols import RequestFormat, build_request
from tasks.answers import StatementVerdicts
from tasks.errors import DiligenceError
from tasks.language.normalise import one_line
from tasks.language.words import (
    COMMON_WORDS,
    detect_language,
    detect_script_language,
    most_model_tokens,
    split_form,
    usual_model_tokens,
    word_forms,
)
from tasks.privacy import is_local
from tasks.ranking.lexicon import split_into_words, stem
from tasks.remote.rate_limit import ranked
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence
from tasks.scoring.judgement import Judgement, bound
from tasks.spending.budget import LONGEST_ANSWER, Ledger
from tasks.spending.money import Pace, Usage

USUAL_ANSWER = 500  # tokens of a judgement with four quotations of two sentences; with reasoning it is longer
BRIEF_ANSWER = 256  # tokens of a judgement or a reading that a slow server is asked for
_USUAL_CHECK_INPUT = 1000  # tokens of a check of three statements

_NOT_ASKED = "Nothing was asked: this is an estimate."


class CallKind(Enum):
    """A kind of call, with the tokens that its answer usually has.

    A plan is what is asked in one attempt, a reading only quotes. What a judgement will state is not known before it is
    made: whoever counts sends the longest check of statements that it can lead to, and it counts as a usual one. A
    second look is made where a first judgement cannot stand; usually none is.
    """

    JUDGEMENT = USUAL_ANSWER
    READING = 120  # two quotations
    PLAN = 250  # a dozen wordings
    CHECK = 80  # three verdicts
    SECOND_LOOK = 0


class CountingAnswerer(Answerer):
    """Stands in for another answerer under the same name, so that stored answers are found and not counted.

    Attributes:
        calls: the calls of each kind.
        usual_input: the tokens that their prompts usually take.
        most_input: the tokens that their prompts take at most.
    """

    def __init__(
        self,
        real: Answerer,
        planned: set[str] | None = None,
        *,
        reading: type[BaseModel] | None = None,
        second_look: type[BaseModel] | None = None,
    ) -> None:
        """Count for one company; `planned` are the plans already counted for other companies, and new ones are added.

        `reading` and `second_look` are the schemas that tell these calls from judgements.
        """
        kinds = ((StatementVerdicts, CallKind.CHECK), (reading, CallKind.READING), (second_look, CallKind.SECOND_LOOK))
        self._kinds = [(schema, kind) for schema, kind in kinds if schema is not None]
        self._real = real
        self.name, self.model, self.address, self.judges = real.name, real.model, real.address, real.judges
        self.calls, self.usual_input, self.most_input = Counter[CallKind](), Counter[CallKind](), Counter[CallKind]()
        self._planned = set() if planned is None else planned
        self._lock = Lock()

    @property
    def window(self) -> int | None:
        """As `Answerer.window`."""
        return self._real.window

    @property
    def pace(self) -> Pace | None:
        """As `Answerer.pace`."""
        return self._real.pace

    def answer(
        self,
        question: str,
        sources: Sequence[Source],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - nothing is spent
    ) -> Answer:
        """Count the call.

        Raises:
            NotAsked: always.
        """
        self._count(question_prompt(question, sources), None, CallKind.JUDGEMENT)

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - nothing is spent
        one_attempt: bool = False,
    ) -> Verdict[T]:
        """Count the call.

        Raises:
            NotAsked: always.
        """
        known = (kind for kind_schema, kind in self._kinds if issubclass(schema, kind_schema))
        kind = CallKind.PLAN if one_attempt else next(known, CallKind.JUDGEMENT)
        self._count(judgement_prompt(instructions, material, schema), schema, kind)

    def most(self, longest: int) -> Usage:
        """The most that the calls can use if each answer has at most `longest` tokens.

        A judgement is sent back once if it does not fit, with its errors: the prompt, the answer, and as much again. So
        is a check of statements; only the final judgement is checked. If nothing is found there is another plan, which
        names the wordings of the first one, and another judgement.
        """
        plans, checks = self.calls[CallKind.PLAN], self.calls[CallKind.CHECK]
        plan_input, check_input = self.most_input[CallKind.PLAN], self.most_input[CallKind.CHECK]
        judgements = self.calls.total() - plans - checks
        judgement_input = self.most_input.total() - plan_input - check_input
        one_judgement = Usage(2 * judgements, 2 * (judgement_input + judgements * longest), 2 * judgements * longest)
        one_plan = Usage(plans, plan_input, plans * longest)
        other_plan = Usage(judgements, judgement_input + judgements * longest, judgements * longest)
        one_check = Usage(2 * checks, 2 * (check_input + checks * longest), 2 * checks * longest)
        return one_plan + one_judgement + other_plan + one_judgement + one_check

    def usual(self, longest: int) -> Usage:
        """What the calls typically use if each answer has at most `longest` tokens."""
        answers = sum(number * min(kind.value, longest) for kind, number in self.calls.items())
        calls = self.calls.total() - self.calls[CallKind.SECOND_LOOK]
        return Usage(calls, self.usual_input.total(), answers)

    def _count(self, prompt: Messages, schema: type[BaseModel] | None, kind: CallKind) -> NoReturn:
        # As a request of the Responses protocol: servers read the schema that goes with it as part of the prompt.
        request = build_request(RequestFormat.RESPONSES, self.model or "", prompt, schema, LONGEST_ANSWER)
        texts = [*(message["content"] for message in prompt), json.dumps(request["text"]) if schema else ""]
        prompt_key = "\0".join(texts)
        usual = usual_model_tokens(*texts)
        with self._lock:
            if kind is CallKind.PLAN:
                if prompt_key in self._planned:  # it will have been answered by then
                    raise NotAsked(_NOT_ASKED)
                self._planned.add(prompt_key)
            self.calls[kind] += 1
            self.most_input[kind] += most_model_tokens(json.dumps(request, ensure_ascii=False))
            if kind is not CallKind.SECOND_LOOK:
                self.usual_input[kind] += min(usual, _USUAL_CHECK_INPUT) if kind is CallKind.CHECK else usual
        raise NotAsked(_NOT_ASKED)


_SHARE: Final = 0.25  # of the time limit, for a judgement
_READS_FASTER: Final = 4.0
"""Times as fast as it writes a server reads at least: a longer wait is that for its model to load."""

SLOW: Final = (
    "The AI server is slow, so each judgement was kept short: few passages and documents, brief quotations, "
    "no search plan and no second check. Raise DILIGENCE_AI_TIMEOUT to give judgements more time."
)


@dataclass(frozen=True, slots=True)
class Width:
    """The time of a judgement in seconds, and how fast the server is; no `pace` where it is not known to be slow."""

    pace: Pace | None
    seconds: float

    @classmethod
    def of(cls, answerer: Answerer) -> "Width":
        """The width of judgements by that model, as far as its speed is known. Nothing is asked."""
        pace = answerer.pace if is_local(answerer.address or "") else None
        seconds = _SHARE * AiSettings.current().ai_timeout
        if pace is None or USUAL_ANSWER / pace.writing <= seconds / 2:
            return cls(None, inf)
        return cls(Pace(max(pace.reading, _READS_FASTER * pace.writing), pace.writing, 1), seconds)

    @property
    def is_narrow(self) -> bool:
        """Whether judgements are kept short."""
        return self.pace is not None

    @property
    def prompt_tokens(self) -> float:
        """Tokens of a prompt that leave time for a brief answer."""
        return inf if self.pace is None else (self.seconds - self.spend(0)) * self.pace.reading

    def spend(self, prompt_tokens: float) -> float:
        """Seconds that a call with such a prompt and a brief answer takes; none where the server is not slow."""
        return 0.0 if self.pace is None else self.pace.seconds(Usage(1, round(prompt_tokens), BRIEF_ANSWER))[1]


_DEFAULT_LANGUAGE: Final = "English"
_COMMON: Final = frozenset().union(*COMMON_WORDS.values())
"""The commonest words of any language: a question of six words does not tell which one it is in."""
_CLEAR_WORDS, _CLEAR_SHARE = 3, 0.4
"""Words of a question, and their share of all of its words, that a passage has which clearly speaks to it.

Measured on the sample: of 15 pairs of a question and a room that answers it 15 have such a passage, of 39 pairs with a
room that does not, one; of the trial's cases without an answer none has one.
"""
_OF_ITS_OWN: Final = 4
"""Words of a reason that show that it speaks of something. With fewer, it says that something is not said."""
_LONGEST: Final = 4000  # characters of a reason that are looked at
_FORM: Final = " ".join(Judgement.model_fields)  # which a small model repeats in its reason
_LONGEST_PHRASE: Final = 60  # words that may be repeated as one
_REPEATED_WORDS, _REPEATED_SHARE = 8, 1 / 3
"""Words of a reason, and their share of all of its words, by which it only says again what it has just said.

Sentences that are built alike name different things and do not reach this: nothing is repeated to the letter.
"""


def find_clear(question: str, passages: Iterable[str]) -> int | None:
    """The index of the passage that addresses a question most clearly: with most of its words, or all of a few.

    None if no passage has as many.
    """
    passages = list(passages)
    language = detect_language("\n".join((question, *passages))) or _DEFAULT_LANGUAGE
    asked = {word for word in _words(question, language) if not word[0].isdigit()}
    least = max(min(_CLEAR_WORDS, len(asked)), _CLEAR_SHARE * len(asked))
    shared = [len(asked & _words(passage, language)) for passage in passages]
    return shared.index(max(shared)) if asked and max(shared, default=0) >= least else None


def is_reason(
    reason: str, asked: str, passages: Sequence[str], rules: str = "", *, has_quotes: bool = False, found: bool = True
) -> bool:
    """Whether a reason can be one for a judgement of `passages` by what is `asked` (question, guide, company).

    It can if it shares a word with them or, where something was `found`, a number. It also can if it names nothing of
    its own and is in their language ("The sources do not tell.") or in that of the `rules` that the model was told to
    judge by ("Nothing."); if it `has_quotes`, which are checked separately, it may paraphrase them. It cannot if its
    words belong to no known language, or to another subject, or if it mostly repeats itself.
    """
    reason = reason[:_LONGEST]
    if _repeats_itself(reason):
        return False
    language = detect_language("\n".join((asked, *passages))) or _DEFAULT_LANGUAGE
    said = _words(reason, language) - _words(_FORM, language)
    subject = {word for word in said if not word[0].isdigit()}
    if any((said if found else subject) & _words(text, language) for text in (asked, *passages)):
        return True
    is_told = not all(map(_counts, word_forms(reason))) or bool(subject & _words(rules, language))
    return is_told and (has_quotes or len(subject) < _OF_ITS_OWN)


def _repeats_itself(text: str) -> bool:
    """Whether much of a text says once more, and to the letter, the phrase that stands right before."""
    words = [word for form in word_forms(text) for word in ((form,) if form.isascii() else split_form(form) or (form,))]
    repeated: set[int] = set()
    for length in range(1, min(_LONGEST_PHRASE, len(words) // 2) + 1):
        began = length
        for place in range(length, len(words) + 1):
            if place < len(words) and words[place] == words[place - length]:
                continue
            phrase = words[began : began + length]
            if place - began >= length and any(len(word) > 1 and not word[0].isdigit() for word in phrase):
                repeated.update(range(began, place))
            began = place + 1
    return len(repeated) >= max(_REPEATED_WORDS, _REPEATED_SHARE * len(words))


def _words(text: str, language: str) -> set[str]:
    """The words of a text that carry its subject, without their endings."""
    return {
        stem(word.spelling, language) for form in word_forms(text) if _counts(form) for word in split_into_words(form)
    }


def _counts(form: str) -> bool:
    """Whether a word may carry a subject: it is not among the commonest ones, nor one of two Latin letters."""
    is_short = len(form) < 3 and form.isalpha() and detect_script_language(form[0]) is None
    return not is_short and form not in _COMMON and any(True for _ in split_into_words(form))


_AGAIN: Final = (
    "\nThis is asked for the second time: the reason given before had no word of the question or of the sources, or "
    "said the same again and again. Say in the reason what the sources say on this question, in their words, or what "
    "of it they do not say."
)

_ANSWERS_PART: Final = 4  # of a window that is left to an answer, as in `tasks.ai.openai.client`
_DENSER: Final = 1.25  # times as many tokens as usual: a prompt has a schema, and small models have small vocabularies

_SMALL: Final = "model's context is too small"

J = TypeVar("J", bound=Judgement)


class NoReason(AnswererFailed):
    """The model's reason has nothing to do with the question or the passages, or repeats itself, twice in a row."""

    slug, title = "no-reason", "The model gave no reason"

    def __init__(self, usage: Usage | None = None) -> None:
        super().__init__(
            "What the model gave as its reason has no word of the question or the passages, or says the same again and "
            "again, so the judgement does not count. Name another model in DILIGENCE_AI_MODEL; `diligence doctor "
            "--model` tries one. Where models that are known to be good do this, the AI server may mix up the answers "
            "to several questions.",
            usage,
        )


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks a model for judgements; `nth` counts those of a question that is judged several times, from 1."""

    answerer: Answerer
    ledger: Ledger | None = None
    nth: int = 1

    def __call__(self, instructions: str, material: str, schema: type[T], *, one_attempt: bool = False) -> Verdict[T]:
        """The model's judgement of material according to instructions, as `schema`. Raises as `Answerer.judge`."""
        return judge_once(
            *(self.answerer, instructions, material, schema), ledger=self.ledger, nth=self.nth, one_attempt=one_attempt
        )

    def judge(
        self,
        told: str,
        sources: Sequence[Source],
        schema: type[J],
        criterion: Judged,
        scale: tuple[float, float],
    ) -> J:
        """A judgement of these sources on that scale with a related reason, asked for once more if it has none.

        No judgement is requested more than twice: one that did not fit at first has had its second attempt.

        Raises:
            NoReason: the second judgement has no related reason either.
            As `Answerer.judge`.
        """
        material, schema = as_material(sources), bound(schema, sources, scale, is_brief=self.width.is_narrow)
        verdict = self(told, material, schema)
        if not gives_reason(verdict.value, told, criterion, sources):
            if verdict.usage.calls > 1:
                raise NoReason(verdict.usage)
            verdict = self(f"{told}{_AGAIN}", material, schema, one_attempt=True)
            if not gives_reason(verdict.value, told, criterion, sources):
                raise NoReason(verdict.usage)
        return verdict.value

    @property
    def width(self) -> Width:
        """How much a judgement may read and write."""
        return Width.of(self.answerer)

    def choose_fitting(self, told: str, sources: Sequence[Source], schema: type[BaseModel]) -> Sequence[Source]:
        """The first of the sources, at least one, that fit into the model's window with the rest of the prompt.

        Room is left for the answer, as much as the limit on it allows. All, where the window is not known. A slow
        server is given no more than it reads in time.
        """
        window, room = self.answerer.window, self.width.prompt_tokens
        if window is not None:
            room = min(room, window - min(window // _ANSWERS_PART, LONGEST_ANSWER))
        count = len(sources)
        while count > 1 and room < inf and measure_prompt(told, sources[:count], schema) > room:
            count -= 1
        return sources[:count]

    def warn_left_out(self, given: int, of: int, what: Literal["passages", "quotations"]) -> str:
        """The warning that the model was given only the best of what speaks to a question; empty where it was not."""
        if given >= of:
            return ""
        small = "model's context is too small, or the AI server too slow," if self.width.is_narrow else _SMALL
        return (
            f"The {small} for all {of} {what}: it was given the best {given}, and {of - given} "
            f"{'was' if of - given == 1 else 'were'} left out."
        )


def measure_prompt(told: str, sources: Sequence[Source], schema: type[BaseModel]) -> float:
    """The tokens of a judgement's prompt, counted for a small vocabulary."""
    prompt = judgement_prompt(told, as_material(sources), schema)
    return usual_model_tokens(*(message["content"] for message in prompt)) * _DENSER


def gives_reason(judgement: Judgement, told: str, criterion: Judged, sources: Sequence[Source]) -> bool:
    """Whether the reason of a judgement is related to its criterion and sources. A document's name does not say that
    nothing was found in it.
    """
    names = [f"{source.name} {source.place or ''}" for source in sources if judgement.found]
    texts = [*names, *(source.text for source in sources)]
    asked = f"{criterion.ask} {criterion.guide}"
    return is_reason(judgement.reason, asked, texts, told, has_quotes=bool(judgement.quotes), found=judgement.found)


_MOST_WORDINGS = 16
_LONGEST_WORDING = 160  # characters of a wording; longer ones are no wording but an answer
_WORDING: JsonDict = {"type": "string", "maxLength": 60}  # for servers that keep to it
_DEFAULT_LANGUAGES = ("English",)

_INSTRUCTIONS = """\
The material is one criterion by which companies are examined. The documents of a company (annual reports, accounts, \
contracts, minutes, tables) will be searched by words for the passages that answer it. Say how such documents would \
put it; do not answer the criterion. Give up to 12 short wordings that stand in them: terms of the trade, titles of \
clauses, typical phrases, line items. Then the names of the statements, sections and tables in which the answer would \
stand, and the units of its figures, where there are any. Write them in {languages}."""

_OTHERS = "The wordings under the criterion were searched before and led to nothing: give others."


def _phrases(value: Any) -> Any:
    """The strings of a list, each in one line; what is too long or repeated is left out."""
    if not isinstance(value, list):
        return value
    lines = [one_line(phrase.replace("\0", "")).strip() for phrase in value if isinstance(phrase, str)]
    return list(dict.fromkeys(line for line in lines if 0 < len(line) <= _LONGEST_WORDING))[:_MOST_WORDINGS]


def _phrases_or_none(value: Any) -> Any:
    return _phrases(value) if isinstance(value, list) else []


class SearchPlan(BaseModel):
    """What the passages that answer a criterion are searched by, besides its own words."""

    model_config = ConfigDict(extra="forbid")

    wordings: Annotated[list[str], BeforeValidator(_phrases)] = Field(
        min_length=1,
        description="how documents put it: terms, titles of clauses, phrases, line items",
        json_schema_extra={"maxItems": 12, "items": _WORDING},
    )
    names: Annotated[list[str], BeforeValidator(_phrases_or_none)] = Field(
        default_factory=list,
        description="names of the statements, sections and tables in which it would stand",
        json_schema_extra={"maxItems": 6, "items": _WORDING},
    )
    units: Annotated[list[str], BeforeValidator(_phrases_or_none)] = Field(
        default_factory=list,
        description="units of its figures as documents write them; none where there are none",
        json_schema_extra={"maxItems": 6, "items": _WORDING},
    )

    @property
    def phrases(self) -> tuple[str, ...]:
        """Everything to search for. Units are on every page of figures, so they count once."""
        return (*self.wordings, *self.names, *([" ".join(self.units)] if self.units else []))


class SearchPlans:
    """The plans for the criteria of one company. Safe to use from several threads.

    The first plan is requested alone: a model that fails to give one is asked only once.
    """

    def __init__(self, answerer: Answerer, ledger: Ledger | None, languages: Sequence[str] = ()) -> None:
        """Plans by that model, in the `languages` (English names) of the company's documents."""
        self._answerer, self._ledger = answerer, ledger
        # In order of the alphabet: rooms that differ in which language is the commonest share their plans.
        named = " and ".join(sorted(languages or _DEFAULT_LANGUAGES))
        self._instructions = _INSTRUCTIONS.format(languages=named)
        self._failure: DiligenceError | None = None
        self._works = False
        self._first = Lock()

    @property
    def warning(self) -> str | None:
        """Why there are no plans, or no more; None if nothing failed."""
        if self._failure is None:
            return None
        why = f"because no search plan could be made. {self._failure.message}"
        return f"The passages were found by the words of the criteria only, {why}"

    def plan(self, criterion: Judged) -> SearchPlan | None:
        """The plan for a criterion; None if there is none."""
        return self._plan(self._instructions, _material(criterion))

    def another(self, criterion: Judged, tried: SearchPlan) -> SearchPlan | None:
        """A plan with other wordings than those `tried`; None where there is none."""
        searched = "\n".join(f"- {phrase}" for phrase in tried.phrases)
        plan = self._plan(f"{self._instructions} {_OTHERS}", f"{_material(criterion)}\n\n{searched}")
        return plan if plan and set(plan.phrases) - set(tried.phrases) else None

    def _plan(self, instructions: str, material: str) -> SearchPlan | None:
        with self._first:
            if not self._works:
                return self._ask(instructions, material)
        return self._ask(instructions, material)

    def _ask(self, instructions: str, material: str) -> SearchPlan | None:
        if self._failure is not None:
            return None
        try:
            with ranked(0):  # all companies, of all processes, wait for it
                plan = judge_once(
                    self._answerer, instructions, material, SearchPlan, ledger=self._ledger, one_attempt=True
                ).value
        except NotAsked:
            return None
        except DiligenceError as error:
            self._failure = error
            return None
        self._works = True
        return plan


def search_plans(evidence: Evidence, answerer: Answerer, ledger: Ledger | None) -> SearchPlans | None:
    """The plans for a company with that evidence; None without a model, or if the settings want none."""
    if not answerer.judges or not AiSettings.current().ai_search_plan:
        return None
    return SearchPlans(answerer, ledger, evidence.languages)


def _material(criterion: Judged) -> str:
    return f"{criterion.ask}\n{criterion.guide}".strip()
