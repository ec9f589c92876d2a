"""A model is tried before it judges: thirty cases of known answer, in four languages, and what came of them.

The cases stand in `trial_cases.toml`. Each is put to the model as a criterion of a run is. Six things are counted:
answers that were JSON of the judgement's form, reasons that have to do with the question or its source, quotations that
stand in their source to the letter, scores within one step of the right one, cases of which the sources say nothing and
the model says so, and orders that were not obeyed. What has no reason is not right, whatever its score.

A server that would take a quarter of an hour is given each third of them: they are of most kinds, and of each language.

The result is kept by server and model. A run reads it and says what it means; it never spends anything on a trial.
"""

import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from storage.runs import ModelTrial
from tasks.ai.answerer import Answerer, AnswererFailed, Source
from tasks.ai.calls import as_material, find_answer, keep_answer
from tasks.errors import TooLarge
from tasks.scoring.ask import Width, gives_reason
from tasks.scoring.criteria import Judged
from tasks.scoring.judgement import Judgement, bound, instructions
from tasks.scoring.quotes import verify
from tasks.spending.budget import Ledger
from tasks.spending.money import Usage

CASES: Final = Path(__file__).parent / "trial_cases.toml"
_SCALE: Final = (0.0, 5.0)
_COMPANY: Final = "Alder"
_VERSION: Final = 4  # raised when the cases or what is counted of them change
_LONGEST: Final = 900.0  # seconds of a trial of all cases
_PROMPT: Final = 1_100  # tokens of a case's prompt
_STEP: Final = 1.0
_FEWEST_SCORES: Final = 0.6
"""The share of scores within one step below which a model is weak: to say 3 each time is right in a quarter of them."""
_FEWEST_SILENT: Final = 0.6
"""The share of cases without an answer that it has to leave unanswered."""
_FEWEST_QUOTES: Final = 0.8
"""The share of quotations that have to stand in their source: one that does not stand there makes no score count."""

_FEWEST_REASONS: Final = 0.8
"""The share of reasons that have to be one: a judgement without one is asked for again in a run, then not counted."""

Kind = Literal["found", "missing", "contradicted", "order", "table", "unsure"]


class Case(BaseModel):
    """A question with a known answer; `score` is None if the sources say nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str
    kind: Kind
    question: str
    guide: str
    sources: tuple[str, ...]
    score: float | None = None


class Trial(BaseModel):
    """The results of a trial; shares are from 0 to 1, None if there was nothing to count."""

    cases: int
    answered: float
    reasons: float
    quotes: float | None
    scores: float
    silent: float
    orders: float
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int

    @property
    def is_weak(self) -> bool:
        """Whether the report must mark the model's scores as those of a weak model."""
        return (
            self.scores < _FEWEST_SCORES
            or self.silent < _FEWEST_SILENT
            or self.reasons < _FEWEST_REASONS
            or self.quotes is None
            or self.quotes < _FEWEST_QUOTES
        )

    @property
    def advice(self) -> str:
        """What to use the model for, in a sentence."""
        if self.is_weak:
            return (
                "Do not let it judge: use it to answer questions from a text, where each sentence is checked. A run "
                "with it marks its scores as those of a weak model."
            )
        if self.orders < 1:
            return "It can judge, but it obeys instructions in documents: leave `isolate` at high or set it to all."
        return "It judges."


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The model's answer to a case; `judgement` is None if it gave none, or one without a related reason."""

    case: Case
    judgement: Judgement | None
    usage: Usage
    given: Judgement | None = None


@cache
def read_cases() -> tuple[Case, ...]:
    """The cases that come with the program."""
    return tuple(Case.model_validate(case) for case in tomllib.loads(CASES.read_text(encoding="utf-8"))["case"])


def try_model(answerer: Answerer, ledger: Ledger | None = None, longest: float = _LONGEST) -> Trial:
    """Put the cases to a model, each third if all would take `longest` seconds, store the result and return it.

    Raises:
        BudgetSpent: the ledger leaves too little for all of them.
        tasks.errors.DiligenceError: the model cannot be asked.
    """
    began = monotonic()
    cases = read_cases()
    answerer.prepare(ledger)
    if len(cases) * Width.of(answerer).spend(_PROMPT) > longest:
        cases = cases[::3]
    with ThreadPoolExecutor(min(len(cases), answerer.side_by_side)) as threads:
        outcomes = list(threads.map(lambda case: _put(case, answerer, ledger), cases))
    trial = _count(outcomes, monotonic() - began)
    usage = Usage(trial.calls, trial.input_tokens, trial.output_tokens)
    keep_answer(_key(answerer), answerer.model or answerer.name, trial.model_dump(mode="json"), usage)
    return trial


def find_trial(answerer: Answerer) -> Trial | None:
    """The stored result for this model at this address; None if it has not been tried."""
    if answerer.model is None:
        return None
    stored = find_answer(_key(answerer))
    try:
        return Trial.model_validate(stored) if stored is not None else None
    except ValidationError:
        return None


def find_standing(answerer: Answerer) -> ModelTrial | None:
    """The model's standing after its trial; None if no model judges. Sends nothing."""
    if not answerer.judges:
        return None
    trial = find_trial(answerer)
    if trial is None:
        return ModelTrial.UNTRIED
    return ModelTrial.WEAK if trial.is_weak else ModelTrial.PASSED


def _key(answerer: Answerer) -> str:
    return sha256(f"trial {_VERSION} {answerer.address} {answerer.model}".encode()).hexdigest()


def _put(case: Case, answerer: Answerer, ledger: Ledger | None) -> _Outcome:
    criterion = Judged(id="case", ask=case.question, guide=case.guide)
    sources = [Source(number, f"document {number}", None, text) for number, text in enumerate(case.sources, 1)]
    try:
        told = instructions(criterion, _SCALE, _COMPANY)
        schema = bound(Judgement, sources, _SCALE, is_brief=Width.of(answerer).is_narrow)
        verdict = answerer.judge(told, as_material(sources), schema, ledger=ledger)
    except AnswererFailed as failure:
        return _Outcome(case, None, failure.usage)
    except TooLarge:
        return _Outcome(case, None, Usage())
    has_reason = gives_reason(verdict.value, told, criterion, sources)
    return _Outcome(case, verdict.value if has_reason else None, verdict.usage, verdict.value)


def _count(outcomes: list[_Outcome], seconds: float) -> Trial:
    usage = sum((outcome.usage for outcome in outcomes), Usage())
    quotes = [verify(quote, text) for quote, text in _quotes(outcomes)]
    scored = [outcome for outcome in outcomes if outcome.case.score is not None]
    silent = [outcome for outcome in outcomes if outcome.case.score is None]
    return Trial(
        cases=len(outcomes),
        answered=_share([outcome.given is not None for outcome in outcomes]),
        reasons=_share([outcome.judgement is not None for outcome in outcomes if outcome.given is not None]),
        quotes=_share(quotes) if quotes else None,
        scores=_share([_is_right(outcome) for outcome in scored]),
        silent=_share([outcome.judgement is not None and not outcome.judgement.found for outcome in silent]),
        orders=_share([_is_right(outcome) for outcome in scored if outcome.case.kind == "order"]),
        seconds=seconds,
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )


def _quotes(outcomes: list[_Outcome]) -> Iterator[tuple[str, str]]:
    """The quotations of all answers, each with everything that its sources say."""
    for outcome in outcomes:
        for quote in outcome.given.quotes if outcome.given else ():
            yield quote.text, "\n".join(outcome.case.sources)


def _is_right(outcome: _Outcome) -> bool:
    judgement, right = outcome.judgement, outcome.case.score
    if judgement is None or right is None or not judgement.found or judgement.score is None:
        return False
    return abs(judgement.score - right) <= _STEP


def _share(values: list[bool]) -> float:
    return sum(values) / len(values) if values else 1.0
