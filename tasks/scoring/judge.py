"""Judged criteria: passages are searched, a model that was tried before judges them, and its quotations are verified.

Searching and verifying read the evidence and belong to one thread. Calling the model takes long, touches neither the
evidence nor stored outcomes, and may happen in another thread.

A model may give different answers to the same prompt, which a single answer does not show. So a judgement can be
repeated: the median score counts, and the report says how many agree with it.

A criterion may be judged from each document by itself (`isolation`). If passages contain orders to a model, they are
judged that way without these words, and as they are with them (`orders`).

A model is tried on thirty cases of known answer, in four languages, which stand in `trial_cases.toml`. Each is put to
the model as a criterion of a run is. Six things are counted: answers that were JSON of the judgement's form, reasons
that have to do with the question or its source, quotations that stand in their source to the letter, scores within one
step of the right one, cases of which the sources say nothing and the model says so, and orders that were not obeyed.
What has no reason is not right, whatever its score. A server that would take a quarter of an hour is given each third
of them: they are of most kinds, and of each language. The result is kept by server and model. A run reads it and says
what it means; it never spends anything on a trial.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from statistics import median_low
from time import monotonic
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from storage.runs import ModelTrial
from storage.scores import ScoreStatus
from tasks.ai.answerer import AiSettings, AnswerCut, Answerer, AnswererFailed, NotAsked, Source
from tasks.ai.calls import as_material, find_answer, keep_answer
from tasks.answers import Opinion, second_opinions
from tasks.errors import DiligenceError, TooLarge
from tasks.scoring.ask import Ask, SearchPlan, Width, find_clear, gives_reason
from tasks.scoring.checks import nearest_passages
from tasks.scoring.criteria import Isolate, Judged, isolates
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.figure_checks import RoomFigures, as_lines, documents_behind, figures_asked_for
from tasks.scoring.isolation import IsolatedQuestion
from tasks.scoring.judgement import Judgement, bound, instructions, order_quotations, prove, whole_quotes
from tasks.scoring.quotes import verify
from tasks.scoring.results import CriterionResult, Passages, ProvenContradiction, Quotation, Steps, pick_counted
from tasks.spending.budget import BudgetSpent, Ledger
from tasks.spending.money import Usage
from tasks.statements.answers import CheckedStatement, Ground
from tasks.statements.check import Finding

_PASSAGES = 12  # passages for a judgement; at about 1,200 characters each well within a small model's window
_SHOWN = 5  # passages in the report where no judgement is made
# Stored with reasons: `tasks.reports.changes` takes it off again.
SHOWN = " The passages that address it are shown."
_UNCHECKED: Final[dict[ModelTrial | None, str]] = {
    ModelTrial.UNTRIED: "the model was never tested",
    ModelTrial.WEAK: "the model is weak: it did poorly when it was tested",
}
"""Why nobody can rely on it that a model found nothing."""
_NOT_FOUND = "The model found no answer, and no passage has most of the words of the question."
# Of statuses that are equally frequent, the one that claims less.
_CAUTIOUS_FIRST = (ScoreStatus.UNSUPPORTED, ScoreStatus.MISSING, ScoreStatus.CONTESTED, ScoreStatus.SCORED)


@dataclass(frozen=True, slots=True)
class Question:
    """A judged criterion ready for the model: the passages to judge by, and the prompt.

    The first `matching` of the `excerpts` share words with the question. If a room has too few of these, other passages
    follow: a question in one language may be answered in another. `isolated` is None if documents are not read
    separately.
    """

    criterion: Judged
    scale: tuple[float, float]
    repeats: int
    excerpts: Sequence[Excerpt]
    matching: int
    passages: Passages
    instructions: str
    room: RoomFigures
    isolated: IsolatedQuestion | None = None

    def judge(self, answerer: Answerer, ledger: Ledger | None, evidence: Evidence) -> Steps:
        """Judge as many times as wanted, starting with what no order can have influenced, as the budget may run out."""
        asks = [Ask(answerer, ledger, nth) for nth in range(1, self.repeats + 1)]

        def judge_whole(ask: Ask) -> Steps:
            return self._result((yield partial(self._ask, ask)), evidence)

        if self.isolated is None:
            return self._add_warnings((yield from _repeat(judge_whole, asks)))
        judged: CriterionResult = yield from _repeat(self.isolated.judge, asks)
        if self.passages.have_orders and not _is_left(judged):
            judged = pick_counted((yield from _repeat(judge_whole, asks)), judged, self.scale)
        return self._add_warnings(judged)

    def doubt(self, result: CriterionResult, trial: ModelTrial | None) -> CriterionResult:
        """Let the words of passages decide where the model found nothing and has not passed its trial.

        A criterion is not missing if a passage clearly addresses it. The reason is the program's own in either case.
        """
        if trial not in _UNCHECKED or result.status is not ScoreStatus.MISSING:
            return result
        judged = f" (Judged {result.contested.in_words}.)" if result.contested else ""
        excerpts = self.excerpts[: self.matching]
        place = find_clear(
            self.criterion.ask,
            (f"{excerpt.document.name}\n{excerpt.heading or ''}\n{excerpt.with_header}" for excerpt in excerpts),
        )
        if place is None:
            return self._add_warnings(replace(result, reason=_NOT_FOUND + judged, absence=None))
        clear = excerpts[place]
        reason = (
            f"The model found nothing, but a passage has the words of the question, and {_UNCHECKED[trial]}. "
            f"So this is not reported as missing.{judged}"
        )
        doubted = replace(result, status=ScoreStatus.UNSCORED, reason=reason, missing=None, absence=None, nearest=())
        return _show_passages(doubted, [clear, *(excerpt for excerpt in excerpts if excerpt is not clear)])

    def _add_warnings(self, judged: CriterionResult) -> CriterionResult:
        """The result with what a reader must know about the passages."""
        judged = replace(judged, orders=self.passages.orders)
        if judged.status is ScoreStatus.UNSCORED and not judged.quotes:
            return _show_passages(judged, self.excerpts[: self.matching])
        if self.matching:
            return judged
        passages = "the first passage" if len(self.excerpts) == 1 else f"the first {len(self.excerpts)} passages"
        note = f"No passage shares a word with the question, so the model was given {passages} of the data room."
        return replace(judged, reason=f"{judged.reason} ({note})")

    def _ask(self, ask: Ask) -> tuple[Judgement, str] | DiligenceError:
        """A judgement of all passages, with a warning where the model was not given all; or why there is none.

        A model that cannot take all the passages gets the best of them: as many as fit into its window if that is
        known; otherwise half of them, then half of these again.
        """
        most = len(self.passages.sources)
        while True:
            window = ask.answerer.window
            given = ask.choose_fitting(self.instructions, self.passages.sources[:most], Judgement)
            try:
                judgement = ask.judge(self.instructions, given, Judgement, self.criterion, self.scale)
            except TooLarge as error:
                if ask.answerer.window != window:  # it has just become known
                    continue
                if len(given) == 1:
                    return error
                most = len(given) // 2
            except DiligenceError as error:
                return error
            else:
                return judgement, ask.warn_left_out(len(given), len(self.excerpts), "passages")

    def _result(self, answer: tuple[Judgement, str] | DiligenceError, evidence: Evidence) -> CriterionResult:
        """What an answer proves. A failure of the model is a result too: `unscored`, with the passages."""
        if isinstance(answer, DiligenceError):
            whole = whole_quotes(answer.text) if isinstance(answer, AnswerCut) else []
            return CriterionResult.without_answer(answer, order_quotations(whole, self.excerpts, evidence)[0])
        judgement, warning = answer
        result = prove(judgement, self.criterion, self.scale, self.excerpts, evidence, self.room)
        if result.nearest:
            result = replace(result, nearest=nearest_passages(self.excerpts[: self.matching]))
        return result.add_warning(warning)


def _is_left(result: CriterionResult) -> bool:
    """Whether the budget did not reach the judgement."""
    return result.unfinished and result.status is ScoreStatus.UNSCORED


def _repeat(judge: Callable[[Ask], Steps], asks: Sequence[Ask]) -> Steps:
    """The result of several judgements; only the last one, if the budget did not reach it."""
    results: list[CriterionResult] = []
    for ask in asks:
        results.append((yield from judge(ask)))
        if _is_left(results[-1]):
            return results[-1]
    return combine_results(results)


def prepare(
    criterion: Judged,
    scale: tuple[float, float],
    company: str,
    evidence: Evidence,
    answerer: Answerer,
    repeats: int = 1,
    plan: SearchPlan | None = None,
    room: RoomFigures = tuple,
    isolate: Isolate = "high",
) -> Question | CriterionResult:
    """The question on one criterion for one company, or its result if there are no passages or no model.

    The figures of the `room` that the question names are given to the model along with the passages. `isolate` says for
    which criteria each document is read by itself.
    """
    wordings = plan.phrases if plan else ()
    excerpts = evidence.find_distinct(criterion.searched, _PASSAGES, wordings, criterion.ask)
    matching = len(excerpts)
    if answerer.judges and matching < _PASSAGES:
        excerpts = [*excerpts, *evidence.others(excerpts, _PASSAGES - matching)]
    has_text = len(evidence.unread) < len(evidence.documents)
    if not excerpts and (answerer.judges or not has_text):
        return CriterionResult(ScoreStatus.MISSING, _explain_no_passage(evidence), missing=criterion.ask)
    if not answerer.judges:  # the room may say it in other words, or in another language
        reason = "No model is configured (DILIGENCE_AI_MODEL), so no judgement was made."
        if not excerpts:
            return CriterionResult(ScoreStatus.UNSCORED, f"{reason} {_explain_no_passage(evidence)}")
        orders = Passages.of(excerpts, evidence).orders
        return _show_passages(CriterionResult(ScoreStatus.UNSCORED, reason, orders=orders), excerpts)
    with evidence.recorded(set()):  # figures of other concepts have no part in it
        rows = figures_asked_for(f"{criterion.ask} {criterion.guide}", room)
        behind = documents_behind(room(), {row.figure.concept for row in rows}) if rows else ()
    evidence.record(behind)
    passages = Passages.of(excerpts, evidence, figures := as_lines(rows))
    told = instructions(criterion, scale, company, with_figures=bool(figures))
    isolated = None
    if isolates(isolate, criterion, have_orders=passages.have_orders):
        isolated = IsolatedQuestion(criterion, scale, company, excerpts, passages.without, room, evidence)
    return Question(criterion, scale, repeats, excerpts, matching, passages, told, room, isolated)


def _explain_no_passage(evidence: Evidence) -> str:
    """Why there is no passage."""
    if not evidence.documents:
        return "No document of the data room may be sent to the model." if evidence.kept else "The data room is empty."
    if len(evidence.unread) == len(evidence.documents):
        return "No document in the data room has readable text."
    return "No passage in the data room shares a word with the question."


def _show_passages(result: CriterionResult, excerpts: Sequence[Excerpt]) -> CriterionResult:
    """The result with the passages that a model would have judged behind its quotations."""
    if not excerpts:
        return result
    quotes = [Quotation.of(excerpt.shown) for excerpt in excerpts[:_SHOWN]]
    return replace(result, reason=result.reason + SHOWN, quotes=[*result.quotes, *quotes])


def combine_results(results: Sequence[CriterionResult]) -> CriterionResult:
    """One result from several judgements of the same criterion.

    The most frequent status decides whether there is a score. The score is the median, the lower middle one of an even
    number: always one of the scores. `agreement` is the share of all repeats, including failed ones, with that status
    and score. The first of these gives the reason; the quotations are those of all of them. If every repeat failed, so
    did the criterion.
    """
    if len(results) == 1:
        return results[0]
    successful = [result for result in results if not result.failed]
    if not successful:
        return results[0]
    alike = _most_frequent(successful)
    confidences = [result.confidence for result in alike if result.confidence is not None]
    return replace(
        alike[0],
        reason=alike[0].reason + _failures(results),
        quotes=_join_quotations(alike),
        confidence=median_low(confidences) if confidences else None,
        agreement=len(alike) / len(results),
        contradictions=_contradictions(alike),
    )


def _most_frequent(results: Sequence[CriterionResult]) -> list[CriterionResult]:
    """Those of the most frequent status and, where they have scores, of the median score."""
    counts = Counter(result.status for result in results)
    status = max(_CAUTIOUS_FIRST, key=lambda candidate: counts[candidate])  # the first one of equals
    alike = [result for result in results if result.status is status]
    scores = [result.score for result in alike if result.score is not None]
    if not scores:
        return alike
    middle = median_low(scores)
    return [result for result in alike if result.score == middle]


def _failures(results: Sequence[CriterionResult]) -> str:
    failed = [result for result in results if result.failed]
    return f" ({len(failed)} of {len(results)} judgements failed. {failed[0].reason})" if failed else ""


def _join_quotations(alike: Sequence[CriterionResult]) -> list[Quotation]:
    """The distinct quotations of all results, verified ones first; those of the first result keep their numbers."""
    distinct: dict[Hashable, Quotation] = {}
    for quote in (quote for result in alike for quote in result.quotes):
        distinct.setdefault(quote.excerpt.span if quote.excerpt else quote.text, quote)
    return sorted(distinct.values(), key=lambda quote: quote.excerpt is None)


def _contradictions(alike: Sequence[CriterionResult]) -> list[ProvenContradiction]:
    distinct: dict[Hashable, ProvenContradiction] = {}
    for contradiction in (contradiction for result in alike for contradiction in result.contradictions):
        distinct.setdefault(frozenset((contradiction.one.span, contradiction.other.span)), contradiction)
    return list(distinct.values())


_MOST: Final = 8
"""Statements of one reason, which has two or three sentences."""
_LONGEST: Final = 500
"""Characters of a statement in an estimate: a reason has at most 4,000."""

Opinions = Mapping[int, Opinion]


class ReasonChecks:
    """Checks the reasons of one company's judgements. Safe to use from several threads."""

    def __init__(self, company: str, answerer: Answerer, ledger: Ledger | None) -> None:
        """Checks with that model; the company's name may stand for "we" in a source."""
        self._company, self._answerer, self._ledger = company, answerer, ledger
        self._failure: DiligenceError | None = None

    @property
    def are_made(self) -> bool:
        """Whether a model checks, fast enough for that, and the settings want it."""
        is_wanted = self._answerer.judges and AiSettings.current().ai_statement_check
        return is_wanted and not Width.of(self._answerer).is_narrow

    def left(self, question: Question, result: CriterionResult) -> Sequence[CheckedStatement]:
        """The statements in a result's reason to ask about; for an estimate, the longest possible."""
        if not self.are_made:
            return ()
        if result.estimated:
            texts = [source.text for source in question.passages.without]
            most = (texts * _MOST)[:_MOST]
            return [CheckedStatement(text[:_LONGEST], Finding.NOT_FOUND, quote=text) for text in most]
        return result.unproved[:_MOST] if result.status.counts else ()

    def ask(self, statements: Sequence[CheckedStatement], question: Question) -> Opinions | DiligenceError:
        """The verdicts by the statement's position, or why there are none."""
        if self._failure is not None:
            return self._failure
        sources = question.passages.without  # words that give orders prove nothing
        grounds = [Ground(source.number, None, source.text, source.text) for source in sources]
        try:
            return second_opinions(self._answerer, statements, self._company, grounds, ledger=self._ledger)
        except NotAsked:
            return {}
        except DiligenceError as error:
            self._failure = error
            return error


def with_opinions(
    result: CriterionResult, statements: Sequence[CheckedStatement], opinions: Opinions | DiligenceError
) -> CriterionResult:
    """The result with the verdicts after its reason, or with a warning if there are none."""
    if isinstance(opinions, DiligenceError):
        warning = f"The statements of its reason were checked by words only. {opinions.message}"
        unfinished = result.unfinished or isinstance(opinions, BudgetSpent)
        return replace(result.add_warning(warning), unfinished=unfinished)
    verdicts: dict[Opinion, list[str]] = {"supported": [], "contradicted": [], "not said": []}
    for place, opinion in opinions.items():
        verdicts[opinion].append(statements[place].text)
    if not any(verdicts.values()):
        return result
    asked = "one statement" if len(opinions) == 1 else f"{len(opinions)} statements"
    counts = ", ".join(
        f"{len(texts)} {opinion}" + (": " + " ".join(f"“{text}”" for text in texts) if opinion != "supported" else "")
        for opinion, texts in verdicts.items()
        if texts
    )
    note = f"(By their words, the passages do not say {asked} of this reason; second check by the model: {counts}.)"
    return replace(result, reason=f"{result.reason} {note}")


CASES: Final = Path(__file__).parent / "trial_cases.toml"
_SCALE: Final = (0.0, 5.0)
_COMPANY: Final = "Alder"
_VERSION: Final = 4  # raised when the cases or what is counted of them change
_LONGEST_TRIAL: Final = 900.0  # seconds of a trial of all cases
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


def try_model(answerer: Answerer, ledger: Ledger | None = None, longest: float = _LONGEST_TRIAL) -> Trial:
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
