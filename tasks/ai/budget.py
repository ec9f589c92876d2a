"""What a run may spend on the model, and what it has spent: no call is made that could take it above the cap.

`Ledger` does the sums. `find_ledger` gives the ledger of a run, from the settings, the prices and the run's row,
`make_question_ledger` that of a question by itself, whose calls keep within the same cap.

Every call of a run is written down before it is made, so that none that may have been billed is forgotten. A call that
is answered, or refused by the server, leaves the log together with what it cost. One whose answer was lost (the process
was killed, the connection broke, the time limit passed) stays: it was asked, and its answer is unknown.

When the same request is sent again, the lost call's idempotency key goes with it: a server that takes such keys gives
the lost answer then, and bills once. The header is the one of the IETF draft "The Idempotency-Key HTTP Header Field";
gateways take it. OpenAI, Azure OpenAI, llama.cpp, vLLM and Ollama document none, and a header that a server does not
know is ignored (RFC 9110, section 5.1). A request that was answered, with an error too, gets a new key: servers
repeat what they answered to a key.

What the next call will most likely not exceed is told by those before it (`MeasuredUsage`). The tokens of a prompt are
in proportion to its size, but each model and each language has its own proportion. Two sizes are measured: bytes, which
long words need many of, and pieces (words, figures, marks), which tables have many of. The larger prediction counts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from math import ceil, sqrt
from threading import Condition, Lock
from typing import ClassVar, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

from sqlmodel import Session

from storage import database, model_calls, runs
from storage.columns import now
from tasks import cancellation
from tasks.ai.money import SETTING as PRICES_SETTING
from tasks.ai.money import Cap, Price, Usage, find_price
from tasks.ai.settings import AiSettings
from tasks.errors import DiligenceError, NotConfigured

SETTING = "DILIGENCE_AI_BUDGET"
MONTHLY = "DILIGENCE_AI_MONTHLY_BUDGET"
HEADER = "Idempotency-Key"
LONGEST_ANSWER, SHORTEST_ANSWER = 4096, 512  # tokens: a judgement takes some hundreds, a model's reasoning thousands

_MOST_MEASURED = 64  # runs whose usage is remembered
_SPREADS = 4.0  # standard deviations above the mean
_LEAST_MARGIN, _FIRST_MARGIN = 0.15, 0.5  # above the largest so far: at least, and divided by the calls
_ROUNDING = 1e-9  # USD; the error of sums of floats
_LONGEST_CALL = timedelta(minutes=2)
"""For so long another process's call is waited for, where the budget would be spent without its answer's cost."""
_POLL = 0.5  # seconds
_CapAndPrice = tuple[Cap | None, Price | None]


class BudgetSpent(DiligenceError):
    """The next call could take the run above its cap, so it is not made. This is no failure of the model."""

    status, slug, title = 402, "budget-spent", "The budget is spent"
    opening: ClassVar[str] = "The budget is spent"
    above: ClassVar[str] = "the run"
    advice: ClassVar[str] = f"Raise {SETTING} and start the run again"

    def __init__(self, cap: Cap) -> None:
        super().__init__(
            f"{self.opening}: one more call could take {self.above} above {cap}. {self.advice}; no answer is paid for "
            "twice."
        )
        self.cap = cap

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.cap,)


class MonthSpent(BudgetSpent):
    """The next call could take this month's runs above their common cap."""

    above = "the runs of this month"
    advice = f"Raise {MONTHLY}, or start the run again next month"


class LoggedCall(NamedTuple):
    """A call in the log. `id` is its row; None if it has none."""

    id: int | None
    request: str
    key: str


class HeldElsewhere(Exception):
    """A reservation does not fit, given what other processes have spent or reserved."""


class CallLog:
    """Where a ledger writes its calls down: this one forgets them, and hands on what they cost.

    Safe to use from several threads.
    """

    def __init__(self, record: Callable[[Usage, float | None], None] = lambda _usage, _usd: None) -> None:
        self._record = record

    def begin(self, request: str, ahead: Usage) -> LoggedCall:
        """Log a call that is about to be made; `ahead` counts as spent until it ends.

        Raises:
            HeldElsewhere: that would pass the cap. Nothing is recorded.
        """
        if ahead != Usage():
            self._record(ahead, None)
        return LoggedCall(None, request, uuid4().hex)

    def recorded(self) -> Usage | None:
        """What all processes have spent or reserved; None if no other process records anything."""
        return None

    def await_others(self) -> bool:
        """Wait a moment for calls of other processes; returns whether there were any."""
        return False

    def end(self, call: LoggedCall, usage: Usage, usd: float | None, *, lost: bool) -> None:  # noqa: ARG002 - of others
        """Log the end of a call; `usage` and `usd` are to be recorded in addition."""
        if usage != Usage() or usd is not None:
            self._record(usage, usd)


class RunCallLog(CallLog):
    """The log of one run in the database, shared by all processes that work on the run.

    A reservation is recorded by one statement that checks the caps, so that no two processes spend the same money. The
    month's cap for all runs is checked just before: runs that call at the same moment may exceed it by one call.
    """

    def __init__(self, run_id: str, limits: _CapAndPrice = (None, None), month: Cap | None = None) -> None:
        self._run_id = run_id
        self._limits = limits
        self._month = month
        self._own: set[int] = set()
        self._lost: dict[str, list[str]] = defaultdict(list)
        self._lock = Lock()
        with database.reading() as session:
            for call in model_calls.list_unanswered_calls(session, run_id):
                self._own.add(call.id or 0)
                if call.key not in self._lost[call.request]:
                    self._lost[call.request].append(call.key)

    def begin(self, request: str, ahead: Usage) -> LoggedCall:
        """As `CallLog.begin`. Reuses the key of a lost call with the same request, if there is one."""
        with self._lock:
            lost = self._lost[request]
            key = lost.pop(0) if lost else uuid4().hex
        with database.writing() as session:
            row = model_calls.add_call(session, self._run_id, key, request) if self._hold(session, ahead) else None
        if row is None:
            with self._lock:
                self._lost[request].insert(0, key)  # for the next try of this call
            raise HeldElsewhere
        self._own.add(row)
        return LoggedCall(row, request, key)

    def _hold(self, session: Session, ahead: Usage) -> bool:
        cap, price = self._limits
        if ahead == Usage():
            return True
        if self._month is not None:
            tokens, usd = runs.sum_costs(session, now().replace(day=1, hour=0, minute=0, second=0, microsecond=0))
            above_tokens = self._month.tokens is not None and tokens + ahead.tokens > self._month.tokens
            more = price.of(ahead) if price else 0.0
            if above_tokens or (self._month.usd is not None and usd + more > self._month.usd + _ROUNDING):
                raise MonthSpent(self._month)
        rates = (price.input, price.output) if price else (0.0, 0.0)
        most = (cap.tokens, cap.usd) if cap else (None, None)
        return runs.hold_cost(session, self._run_id, ahead.input_tokens, ahead.output_tokens, rates, most)

    def recorded(self) -> Usage | None:
        """As `CallLog.recorded`."""
        with database.reading() as session:
            run = runs.get_run(session, self._run_id)
        return Usage(run.calls, run.input_tokens, run.output_tokens)

    def await_others(self) -> bool:
        """As `CallLog.await_others`. Calls from long ago are ignored: their process has ended."""
        since = now() - _LONGEST_CALL
        with database.reading() as session:
            calls = model_calls.list_unanswered_calls(session, self._run_id)
        others = any(call.id not in self._own and call.asked_at > since for call in calls)
        if others:
            cancellation.sleep(_POLL)
        return others

    def end(self, call: LoggedCall, usage: Usage, usd: float | None, *, lost: bool) -> None:
        """As `CallLog.end`. In one transaction the call leaves the log and its cost is recorded."""
        if lost:
            with self._lock:
                self._lost[call.request].append(call.key)
        with database.writing() as session:
            if not lost and call.id is not None:
                model_calls.remove_call(session, call.id)
            self._add(session, usage, usd)

    def _add(self, session: Session, usage: Usage, usd: float | None) -> None:
        if usage != Usage() or usd is not None:
            runs.add_cost(session, self._run_id, usage.calls, usage.input_tokens, usage.output_tokens, usd)


class Measured:
    """Mean, spread and maximum of the values so far (Welford's method)."""

    def __init__(self) -> None:
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0
        self._largest = 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        self._count += 1
        from_mean = value - self._mean
        self._mean += from_mean / self._count
        self._squares += from_mean * (value - self._mean)
        self._largest = max(self._largest, value)

    def likely_most(self) -> float | None:
        """An upper bound that the next value is unlikely to exceed; None while a single value says nothing about the
        spread.
        """
        if self._count < 2:
            return None
        spread = sqrt(self._squares / (self._count - 1))
        margin = max(_LEAST_MARGIN, _FIRST_MARGIN / self._count)
        return max(self._mean + _SPREADS * spread, self._largest * (1 + margin))


class MeasuredUsage:
    """The usage of past calls, to predict that of the next. Not safe for several threads."""

    def __init__(self) -> None:
        self._answers = Measured()
        self._ratios: dict[int, Measured] = {}

    def add(self, sizes: Sequence[int], usage: Usage) -> None:
        """Record what a call with a prompt of these sizes has used."""
        for position, size in enumerate(sizes):
            if size:
                self._ratios.setdefault(position, Measured()).add(usage.input_tokens / size)
        self._answers.add(usage.output_tokens)

    def likely_most(self, sizes: Sequence[int], worst: Usage) -> Usage:
        """What a call with a prompt of these sizes is unlikely to exceed; `worst` is the most that it can use."""
        answer = self._answers.likely_most()
        if answer is None:
            return worst
        prompt = 0.0
        for position, size in enumerate(sizes):
            measured = self._ratios.get(position)
            ratio = measured.likely_most() if measured else None
            prompt = max(prompt, size * ratio if ratio is not None else worst.input_tokens)
        return Usage(0, min(ceil(prompt), worst.input_tokens), min(ceil(answer), worst.output_tokens))


class Call:
    """One call under way. Calling it settles the cost of the call; `lose` records that its answer was lost.

    `key` is its idempotency key, `answer_limit` the most tokens that its answer may have; None for no limit.
    """

    def __init__(self, logged: LoggedCall, hold: Usage, *, capped: bool) -> None:
        self.key = logged.key
        self.answer_limit = hold.output_tokens if capped else None
        self.lost = False
        self.cost = Usage()

    def __call__(self, usage: Usage) -> None:
        """Settle the call: the server answered, and this is what it cost."""
        self.cost += usage

    def lose(self) -> None:
        """Record that the request was sent but no answer arrived: it may have been billed."""
        self.lost = True


class Ledger:
    """What one run may spend and has spent, for any number of threads.

    Before a call its hold is reserved, so that concurrent calls cannot spend the same money twice. The hold is the most
    that the call may use: for the prompt, at first the most tokens that it can have, later what past calls make likely
    (`MeasuredUsage`); for the answer, the longest that is allowed, which the server is told. Near the end of the budget
    the allowed answer shrinks to what is left, as long as that is likely to suffice. After the call its real cost
    replaces the hold. A discount by the server, as for cached prompts, only leaves more.
    """

    def __init__(
        self,
        cap: Cap | None,
        price: Price | None,
        spent: Usage,
        usd: float | None,
        record: Callable[[Usage, float | None], None] = lambda _usage, _usd: None,
        *,
        ahead: bool = False,
        log: CallLog | None = None,
        measured: MeasuredUsage | None = None,
    ) -> None:
        """Continue from what has been spent.

        Args:
            cap: the most that may be spent; None for no limit.
            price: of the model; None where it is not known, and then no cap may be in USD.
            spent: what the run has spent already.
            usd: the same in USD, as far as it was known; at least what `price` says is taken.
            record: stores what was spent in addition, in tokens and in USD (None: nothing to add, or no price).
            ahead: with a cap, also record the tokens of the hold before a call (no call and no USD) and take back
                after it what was too much: the spending of a process that is killed is then on record, and that of
                a call whose answer was lost.
            log: writes down calls and stores what they cost, in place of `record`.
            measured: what the run's calls have used, as far as an earlier ledger of the run has seen it.
        """
        if cap is not None and cap.usd is not None and price is None:
            raise ValueError("a cap in USD needs a price")
        self._cap, self._price = cap, price
        self._log = log or CallLog(record)
        self._ahead = ahead and cap is not None
        self._spent = spent
        self._usd = max(usd or 0.0, price.of(spent)) if price else usd  # tokens recorded ahead have no price yet
        self._lost = Usage()  # the holds of calls whose answers were lost
        self._elsewhere = Usage()  # what other processes have spent or hold, as far as it is known here
        self._reserved = Usage()
        self._under_way = 0
        self._measured = measured or MeasuredUsage()
        self._changed = Condition()
        self.answer_limit = _answer_limit(cap, price)

    @property
    def spent(self) -> Usage:
        """What has been spent so far, without reservations and calls whose answers were lost."""
        with self._changed:
            return self._spent

    @property
    def usd(self) -> float | None:
        """What has been spent so far in USD; None without a price."""
        with self._changed:
            return self._usd

    @contextmanager
    def call(
        self, prompt_tokens: int, *, pieces: int = 0, answer_limit: int | None = None, request: str = ""
    ) -> Iterator[Call]:
        """Reserve the hold of a single call within the block, and log the call.

        `prompt_tokens` is the most tokens that the prompt can have (`tokens.most_model_tokens`), `pieces` its words,
        figures and marks (0 if they were not counted), `answer_limit` the most tokens that an answer may have, if below
        the ledger's own limit, and `request` a hash of everything that is sent. A call that ends without being settled
        or lost costs nothing. If the hold only fits once calls under way turn out to cost less than theirs, this waits
        for them. Calls must not be nested.

        Raises:
            BudgetSpent: the hold does not fit; no call was made.
        """
        longest = self.answer_limit or 0
        worst = Usage(0, prompt_tokens, longest if answer_limit is None else min(answer_limit, longest))
        sizes = (prompt_tokens, pieces)
        hold, logged = self._begin(sizes, worst, request)
        ahead = hold if self._ahead else Usage()
        call = Call(logged, hold, capped=self._cap is not None)
        try:
            yield call
        except BaseException as error:
            if not isinstance(error, Exception):  # an interrupt in the middle of the call
                call.lost = not call.cost.calls
            raise
        finally:
            self._end(call, logged, hold, ahead, self._cost(call.cost, worst), sizes)

    def budget_spent(self) -> BudgetSpent:
        """The error for a call that the budget has too little left for."""
        assert self._cap is not None
        return BudgetSpent(self._cap)

    def _begin(self, sizes: Sequence[int], worst: Usage, request: str) -> tuple[Usage, LoggedCall]:
        """Reserve a hold here and in the log, which knows what other processes are doing under the same cap."""
        while True:
            try:
                hold = self._reserve(sizes, worst)
            except BudgetSpent:
                if not self._log.await_others():
                    raise
                self._note_others()
                continue
            try:
                logged = self._log.begin(request, hold if self._ahead else Usage())
            except HeldElsewhere:
                self._give_back(hold)
                self._note_others()
            except BaseException:
                self._give_back(hold)
                raise
            else:
                return hold, logged

    def _note_others(self) -> None:
        with self._changed:
            if (recorded := self._log.recorded()) is not None:
                ours = self._spent + self._lost + self._reserved
                # Below zero where others held more when this ledger began than they have spent by now.
                self._elsewhere = Usage(
                    0, recorded.input_tokens - ours.input_tokens, recorded.output_tokens - ours.output_tokens
                )

    def _reserve(self, sizes: Sequence[int], worst: Usage) -> Usage:
        with self._changed:
            while True:
                likely = self._measured.likely_most(sizes, worst)
                hold = Usage(0, likely.input_tokens, worst.output_tokens)
                if self._above(self._reserved + hold):
                    if self._above(likely):
                        raise self.budget_spent()
                    if self._under_way:
                        self._changed.wait()
                        continue
                    hold = Usage(0, likely.input_tokens, self._tokens_for_answer(likely.input_tokens))
                self._reserved += hold
                self._under_way += 1
                return hold

    def _give_back(self, hold: Usage) -> None:
        with self._changed:
            self._reserved += -hold
            self._under_way -= 1
            self._changed.notify_all()

    def _end(
        self, call: Call, logged: LoggedCall, hold: Usage, ahead: Usage, cost: Usage, sizes: Sequence[int]
    ) -> None:
        # Recorded before the reservation ends, so that no other call takes the money in between.
        lost = call.lost and not cost.calls
        more = Usage() if lost else cost + -ahead
        billed = ahead if lost else cost
        priced = self._price.of(billed) if self._price and billed != Usage() else None
        try:
            self._log.end(logged, more, priced, lost=lost)
        finally:
            with self._changed:
                if lost:
                    self._lost += hold
                else:
                    self._spent += cost
                    if priced is not None:
                        self._usd = (self._usd or 0.0) + priced
                    if cost.calls:
                        self._measured.add(sizes, cost)
            self._give_back(hold)

    def _above(self, more: Usage) -> bool:
        """Whether `more`, added to what was already spent, exceeds the cap."""
        cap, price = self._cap, self._price
        if cap is None:
            return False
        if cap.tokens is not None:
            return (self._spent + self._lost + self._elsewhere + more).tokens > cap.tokens
        assert price is not None
        assert cap.usd is not None
        return (self._usd or 0.0) + price.of(self._lost + self._elsewhere + more) > cap.usd

    def _tokens_for_answer(self, prompt_tokens: int) -> int:
        """Tokens that the cap leaves for an answer after a prompt of that size, if no other call is under way."""
        cap, price = self._cap, self._price
        assert cap is not None
        if cap.tokens is not None:
            return cap.tokens - (self._spent + self._lost + self._elsewhere).tokens - prompt_tokens
        assert price is not None
        assert cap.usd is not None
        left = cap.usd - (self._usd or 0.0) - price.of(self._lost + self._elsewhere + Usage(0, prompt_tokens))
        return int(left / price.output * 1_000_000)

    def _cost(self, usage: Usage, worst: Usage) -> Usage:
        """Return `usage`; under a cap, the worst case if the server answered without reporting its usage."""
        if self._cap is None or not usage.calls or usage.input_tokens:
            return usage
        return Usage(usage.calls, worst.input_tokens, usage.output_tokens or worst.output_tokens)


def _answer_limit(cap: Cap | None, price: Price | None) -> int | None:
    """Tokens for one answer: a quarter of what the cap buys, within bounds, so that none reserves a small cap whole."""
    if cap is None:
        return None
    buys: float = LONGEST_ANSWER * 4
    if cap.tokens is not None:
        buys = cap.tokens
    elif cap.usd is not None and price is not None and price.output > 0:
        buys = cap.usd / price.output * 1_000_000
    return int(max(SHORTEST_ANSWER, min(LONGEST_ANSWER, buys / 4)))


def cap_and_price() -> _CapAndPrice:
    """The cap of a run, and the price of its model; each None if there is none.

    A run without a cap of its own may spend what is left of the month's cap.

    Raises:
        NotConfigured: a cap is in USD and the model's price is not known.
        BadRequest: what is wrong in the user's file of prices.
    """
    settings = AiSettings.current()
    month = _find_month_cap()
    cap = Cap.parse(settings.ai_budget) if settings.ai_budget else month
    model = settings.ai_model
    price = find_price(model, settings.ai_prices) if model else None
    in_usd = [each for each in (cap, month) if each is not None and each.usd is not None]
    if model and price is None and in_usd:
        where = (
            f"the file that {PRICES_SETTING} names"
            if settings.ai_prices
            else f"a file, and name it in {PRICES_SETTING}"
        )
        setting = MONTHLY if in_usd[0] is month else SETTING
        raise NotConfigured(
            f"{setting} is {in_usd[0]}, but no price is known for {model}. Write its price into {where}: "
            f'[models], and below it "{model}" = {{ input = 0.15, output = 0.60 }}, in USD for a million tokens '
            "(0 for a server of your own). Or give the budget in tokens."
        )
    return cap, price


def _find_month_cap() -> Cap | None:
    """The most that all runs of a calendar month (UTC) together may spend; None if there is no limit."""
    written = AiSettings.current().ai_monthly_budget
    return Cap.parse(written) if written else None


def find_ledger(run_id: str) -> Ledger:
    """The ledger of a run; everyone in this process shares one.

    It continues from the run's row and records what is spent there at once. When nobody uses it any more, the row is
    complete, and the next ledger starts from there with the settings of that time. Other processes that work on the run
    have ledgers of their own: each records its holds in the row with a statement that checks the cap.

    Raises:
        As `cap_and_price`.
    """
    limits = cap_and_price()
    with _opening:
        ledger = _open.get((run_id, limits))
        if ledger is None:
            ledger = _open[run_id, limits] = _from_row(run_id, limits)
        return ledger


def make_question_ledger() -> Ledger | None:
    """The ledger of a single question outside of any run, for its answer and the check of it; None without a budget.

    Raises:
        As `cap_and_price`.
    """
    cap, price = cap_and_price()
    if cap is None or AiSettings.current().ai_model is None:
        return None
    return Ledger(cap, price, Usage(), None)


_open: WeakValueDictionary[tuple[str, _CapAndPrice], Ledger] = WeakValueDictionary()
_opening = Lock()


def _from_row(run_id: str, limits: _CapAndPrice) -> Ledger:
    cap, price = limits
    with database.reading() as session:
        run = runs.get_run(session, run_id)
        spent, usd = Usage(run.calls, run.input_tokens, run.output_tokens), run.usd
    if cap is not None and cap.usd is not None and price is None:  # no model is called
        cap = None
    log = RunCallLog(run_id, (cap, price), _find_month_cap() if cap else None)
    return Ledger(cap, price, spent, usd, ahead=True, log=log, measured=_measure_usage(run_id))


def record_unpriced(run_id: str) -> None:
    """Price what a run has spent so far, if it is not priced yet: the price became known later, or a process was
    killed.

    Only for runs that no process works on: calls under way elsewhere hold tokens that have no price yet.

    Raises:
        As `cap_and_price`.
    """
    _cap, price = cap_and_price()
    with database.writing() as session:
        run = runs.get_run(session, run_id)
        unpriced = price.of(Usage(run.calls, run.input_tokens, run.output_tokens)) - (run.usd or 0.0) if price else 0.0
        if unpriced > _ROUNDING:
            runs.add_cost(session, run_id, 0, 0, 0, unpriced)


def _measure_usage(run_id: str) -> MeasuredUsage:
    """What the run's calls have used in this process; kept here as a ledger lasts only for the work on one company."""
    key = database.url(), run_id
    measured = _measured.pop(key, None) or MeasuredUsage()
    _measured[key] = measured  # the latest last
    while len(_measured) > _MOST_MEASURED:
        del _measured[next(iter(_measured))]
    return measured


_measured: dict[tuple[str, str], MeasuredUsage] = {}
