"""What a run may spend on the model, and what it has spent: no call is made that could take it above the cap.

An `Account` has the sums: of a run in its row of the database, which all processes share, of a question by itself in
memory. A `Ledger` lets calls through to it. `find_ledger` gives the ledger of a run, from the settings, the prices and
the run's row, `make_question_ledger` that of a question, whose calls keep within the same cap.

Every call of a run is written down before it is made, so that none that may have been billed is forgotten. A call that
is answered, or refused by the server, leaves the log together with what it cost, and in the same transaction its reply
is stored: a process that is killed before it has judged a reply leaves it to the next one, which need not pay again. A
call whose answer was lost (the process was killed, the connection broke, the time limit passed) stays: it was asked,
and its answer is unknown.

When the same request is sent again, the lost call's idempotency key goes with it: a server that takes such keys gives
the lost answer then, and bills once. The header is the one of the IETF draft "The Idempotency-Key HTTP Header Field";
gateways take it. OpenAI, Azure OpenAI, llama.cpp, vLLM and Ollama document none, and a header that a server does not
know is ignored (RFC 9110, section 5.1). A request that was answered, with an error too, gets a new key: servers
repeat what they answered to a key.

What the next call will most likely not exceed is told by those before it (`MeasuredUsage`). The tokens of a prompt are
in proportion to its size, but each model and each language has its own proportion. Two sizes are measured: bytes, which
long words need many of, and pieces (words, figures, marks), which tables have many of. The larger prediction counts.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, floor
from pathlib import Path
from statistics import fmean, stdev
from threading import Condition, Lock
from time import monotonic
from typing import Annotated, Any, ClassVar, Self
from uuid import uuid4
from weakref import WeakValueDictionary

from pydantic import BeforeValidator, Field
from pydantic_settings import SettingsConfigDict
from sqlmodel import Session

from storage import database, model_calls, runs
from storage.columns import now
from storage.model_calls import Replies
from storage.settings import Settings
from tasks import cancellation
from tasks.errors import DiligenceError, NotConfigured
from tasks.spending.money import SETTING as PRICES_SETTING
from tasks.spending.money import Cap, Price, Usage, find_price

SETTING = "DILIGENCE_AI_BUDGET"
MONTHLY = "DILIGENCE_AI_MONTHLY_BUDGET"
HEADER = "Idempotency-Key"
LONGEST_ANSWER, SHORTEST_ANSWER = 4096, 512  # tokens: a judgement takes some hundreds, a model's reasoning thousands

_MOST_MEASURED = 64  # runs whose usage is remembered
_MOST_VALUES = 500  # calls of a run that the next one is measured by
_SPREADS = 4.0  # standard deviations above the mean
_LEAST_MARGIN, _FIRST_MARGIN = 0.15, 0.5  # above the largest so far: at least, and divided by the calls
_ROUNDING = 1e-9  # USD; the error of sums of floats
_LONGEST_CALL = 120.0
"""Seconds for which another process's call is waited for, where the budget would be spent without its answer's cost."""
_POLL = 0.5  # seconds
_CapAndPrice = tuple[Cap | None, Price | None]


def _as_cap(value: Any) -> str | None:
    return str(Cap.parse(str(value))) if value is not None else None


class SpendingSettings(Settings):
    """What may be spent on which model."""

    model_config = SettingsConfigDict(str_strip_whitespace=True)

    ai_model: str | None = Field(None, description="the model's name as the server knows it")
    ai_budget: Annotated[str | None, BeforeValidator(_as_cap)] = Field(
        None, description="the most that a run may spend on the model: 0.50 USD or 20000 tokens"
    )
    ai_monthly_budget: Annotated[str | None, BeforeValidator(_as_cap)] = Field(
        None, description="the most that all runs of this database may spend on models in a calendar month (UTC)"
    )
    ai_prices: Path | None = Field(
        None, description="a file of models' prices, which take precedence over the built-in ones"
    )


class BudgetSpent(DiligenceError):
    """The next call could take the run above its cap, so it is not made. This is not a failure of the model."""

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


class MonthSpent(BudgetSpent):
    """The next call could take this month's runs above their common cap."""

    above = "the runs of this month"
    advice = f"Raise {MONTHLY}, or start the run again next month"


@dataclass
class Call:
    """One call under way. Calling it settles what it cost; `lose` records that its answer was lost.

    `key` is its idempotency key, `request` a hash of everything that is sent, `held` the most that it may use, `row`
    its row in the log of the run. `answer_limit` is the most tokens that its answer may have; None for no limit.
    `reply` is the body of the server's reply; where it is there from the start, it was paid for, and no call is made.
    """

    key: str
    request: str
    held: Usage
    row: int | None = None
    answer_limit: int | None = None
    reply: str | None = None
    cost: Usage = field(default_factory=Usage)
    lost: bool = False

    def __call__(self, usage: Usage) -> None:
        """Settle the call: the server answered, and this is what it cost."""
        self.cost += usage

    def lose(self) -> None:
        """Record that the request was sent but no answer arrived: it may have been billed."""
        self.lost = True


class Account:
    """What was spent under a cap, and what calls under way hold. This one is in memory.

    Safe to use from several threads.
    """

    def __init__(self, cap: Cap | None = None, price: Price | None = None) -> None:
        """`price` is the model's, None where it is not known, and then no cap may be in USD."""
        if cap is not None and cap.usd is not None and price is None:
            raise ValueError("a cap in USD needs a price")
        self.cap, self.price = cap, price
        self._spent = Usage()
        self._usd: float | None = None
        self._lock = Lock()

    def read(self) -> tuple[Usage, float | None]:
        """What was spent and is held, and what the calls that have ended cost in USD; None without a price."""
        with self._lock:
            return self._spent, self._usd

    def left(self, prompt_tokens: int) -> int | None:
        """The tokens that the cap leaves for an answer behind a prompt of that size; negative where it leaves none.

        None where there is no end to them.
        """
        return self._left(prompt_tokens, *self.read())

    def _left(self, prompt_tokens: int, spent: Usage, usd: float | None) -> int | None:
        if self.cap is None:
            return None
        if self.cap.tokens is not None:
            return self.cap.tokens - spent.tokens - prompt_tokens
        assert self.price is not None
        assert self.cap.usd is not None
        # Tokens that are held have no cost in USD yet.
        more = self.cap.usd - max(usd or 0.0, self.price.of(spent)) - self.price.of(Usage(0, prompt_tokens))
        if self.price.output:
            return floor((more + _ROUNDING) / self.price.output * 1_000_000)
        return None if more >= -_ROUNDING else -1

    def begin(self, request: str, held: Usage) -> Call | None:
        """Log a call that is about to be made, and hold what it may use; None where that would pass the cap."""
        with self._lock:
            left = self._left(held.input_tokens, self._spent, self._usd)
            if left is not None and left < held.output_tokens:
                return None
            self._spent += held
        return Call(uuid4().hex, request, held)

    def end(self, call: Call, more: Usage, usd: float | None, replies: Replies | None = None) -> None:  # noqa: ARG002 - of a run
        """Log the end of a call.

        Args:
            call: the call.
            more: to be added to what was spent.
            usd: the same in USD; None where the price is not known.
            replies: those of the answer that the call was made for.
        """
        with self._lock:
            self._spent += more
            if usd is not None:
                self._usd = (self._usd or 0.0) + usd

    def await_others(self) -> bool:
        """Wait a moment for calls of other processes; returns whether there were any."""
        return False


class RunAccount(Account):
    """The account of a run in its row, and the log of its calls, shared by all processes that work on the run.

    What a call may use is held by one statement that checks the cap, so that no two processes spend the same money. The
    month's cap for all runs is checked just before: runs that call at the same moment may exceed it by one call.
    """

    def __init__(self, run_id: str, limits: _CapAndPrice = (None, None), month: Cap | None = None) -> None:
        super().__init__(*limits)
        self._run_id, self._month = run_id, month
        self._own: set[int] = set()
        self._seen: dict[int | None, float] = {}
        self._lost: dict[str, list[str]] = defaultdict(list)
        with database.reading() as session:
            for call in model_calls.list_unanswered_calls(session, run_id):
                self._own.add(call.id or 0)
                if call.key not in self._lost[call.request]:
                    self._lost[call.request].append(call.key)

    def read(self) -> tuple[Usage, float | None]:
        """As `Account.read`."""
        with database.reading() as session:
            run = runs.get_run(session, self._run_id)
        return Usage(run.calls, run.input_tokens, run.output_tokens), run.usd

    def begin(self, request: str, held: Usage) -> Call | None:
        """As `Account.begin`. Reuses the key of a lost call with the same request, if there is one.

        Raises:
            MonthSpent: the cap of the month would be passed.
        """
        with self._lock:
            lost = self._lost[request]
            key = lost.pop(0) if lost else uuid4().hex
        row = None
        try:
            with database.writing() as session:
                if self._hold(session, held):
                    row = model_calls.add_call(session, self._run_id, key, request)
        finally:
            with self._lock:
                if row is None:
                    self._lost[request].insert(0, key)  # for the next try of this call
                else:
                    self._own.add(row)
        return None if row is None else Call(key, request, held, row)

    def _hold(self, session: Session, held: Usage) -> bool:
        if self.cap is None:
            return True
        price = self.price or Price(0.0, 0.0)
        if self._month is not None:
            tokens, usd = runs.sum_costs(session, now().replace(day=1, hour=0, minute=0, second=0, microsecond=0))
            above_tokens = self._month.tokens is not None and tokens + held.tokens > self._month.tokens
            if above_tokens or (self._month.usd is not None and usd + price.of(held) > self._month.usd + _ROUNDING):
                raise MonthSpent(self._month)
        rates, most = (price.input, price.output), (self.cap.tokens, self.cap.usd)
        return runs.hold_cost(session, self._run_id, held.input_tokens, held.output_tokens, rates, most)

    def await_others(self) -> bool:
        """As `Account.await_others`. A call that this process has known of for long is ignored: its process has ended.

        When it was asked does not count: the clock of the other machine may be wrong.
        """
        with database.reading() as session:
            calls = model_calls.list_unanswered_calls(session, self._run_id)
        since = monotonic() - _LONGEST_CALL
        foreign = [self._seen.setdefault(call.id, monotonic()) for call in calls if call.id not in self._own]
        others = any(seen > since for seen in foreign)
        if others:
            cancellation.sleep(_POLL)
        return others

    def end(self, call: Call, more: Usage, usd: float | None, replies: Replies | None = None) -> None:
        """As `Account.end`. In one transaction the call leaves the log, unless it was lost, its cost is added, and its
        reply is stored.
        """
        if call.lost:
            with self._lock:
                self._lost[call.request].append(call.key)
        with database.writing() as session:
            if not call.lost and call.row is not None:
                model_calls.remove_call(session, call.row)
            if more != Usage() or usd is not None:
                runs.add_cost(session, self._run_id, more.calls, more.input_tokens, more.output_tokens, usd)
            if replies is not None and call.cost.calls and call.reply is not None:
                replies.bodies[call.request] = call.reply
                model_calls.save_replies(session, replies)


class Measured:
    """The last values of a quantity."""

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=_MOST_VALUES)

    def add(self, value: float) -> None:
        """Add a value."""
        self._values.append(value)

    def likely_most(self) -> float | None:
        """An upper bound that the next value hardly exceeds; None while a single value tells nothing of the spread."""
        values = list(self._values)
        if len(values) < 2:
            return None
        margin = max(_LEAST_MARGIN, _FIRST_MARGIN / len(values))
        return max(fmean(values) + _SPREADS * stdev(values), max(values) * (1 + margin))


class MeasuredUsage:
    """The usage of past calls, to predict that of the next."""

    def __init__(self) -> None:
        self._answers = Measured()
        self._ratios: dict[int, Measured] = defaultdict(Measured)

    def add(self, sizes: Sequence[int], usage: Usage) -> None:
        """Record what a call with a prompt of these sizes has used."""
        for position, size in enumerate(sizes):
            if size:
                self._ratios[position].add(usage.input_tokens / size)
        self._answers.add(usage.output_tokens)

    def likely_most(self, sizes: Sequence[int], worst: Usage) -> Usage:
        """What a call with a prompt of these sizes is unlikely to exceed; `worst` is the most that it can use."""
        answer = self._answers.likely_most()
        if answer is None:
            return worst
        prompt = 0.0
        for position, size in enumerate(sizes):
            ratio = self._ratios[position].likely_most()
            prompt = max(prompt, size * ratio if ratio is not None else worst.input_tokens)
        return Usage(0, min(ceil(prompt), worst.input_tokens), min(ceil(answer), worst.output_tokens))


class Ledger:
    """Lets calls through to an account, for any number of threads.

    Before a call its hold is written into the account, so that concurrent calls cannot spend the same money twice. The
    hold is the most that the call may use: for the prompt, at first the most tokens that it can have, later what past
    calls make likely (`MeasuredUsage`); for the answer, the longest that is allowed, which the server is told. Near the
    end of the budget the allowed answer shrinks to what is left, as long as that is likely to suffice. After the call
    its real cost replaces the hold. A discount by the server, as for cached prompts, only leaves more.
    """

    def __init__(self, account: Account, measured: MeasuredUsage | None = None) -> None:
        """A ledger for that account; `measured` is what its calls have used so far."""
        self._account = account
        self._measured = measured or MeasuredUsage()
        self.replies: Replies | None = None
        self._under_way: set[str] = set()
        self._changed = Condition()
        self.answer_limit = _answer_limit(account.cap, account.price)

    @property
    def spent(self) -> Usage:
        """What has been spent or is held so far."""
        return self._account.read()[0]

    @property
    def usd(self) -> float | None:
        """What has been spent so far in USD; None without a price."""
        return self._account.read()[1]

    def keeping(self, replies: Replies) -> Self:
        """A ledger of the same account for the calls of one answer: their replies are stored together with their cost.

        A request whose reply is among `replies` already is not sent, and costs nothing.
        """
        ledger = copy(self)
        ledger.replies = replies
        return ledger

    @contextmanager
    def call(
        self, prompt_tokens: int, *, pieces: int = 0, answer_limit: int | None = None, request: str = ""
    ) -> Iterator[Call]:
        """Hold what a single call may use within the block, and log the call.

        `prompt_tokens` is the most tokens that the prompt can have (`tokens.most_model_tokens`), `pieces` its words,
        figures and marks (0 if they were not counted), `answer_limit` the most tokens that an answer may have, if below
        the ledger's own limit, and `request` a hash of everything that is sent. A call that ends without being settled
        or lost costs nothing. If the hold only fits once calls under way turn out to cost less than theirs, this waits
        for them. Calls must not be nested.

        Raises:
            BudgetSpent: the hold does not fit; no call was made.
        """
        if self.replies is not None and request in self.replies.bodies:
            yield Call("", request, Usage(), reply=self.replies.bodies[request])
            return
        longest = self.answer_limit or 0
        worst = Usage(0, prompt_tokens, longest if answer_limit is None else min(answer_limit, longest))
        sizes = (prompt_tokens, pieces)
        call = self._begin(sizes, worst, request)
        try:
            yield call
        except BaseException as error:
            if not isinstance(error, Exception):  # an interrupt in the middle of the call
                call.lose()
            raise
        finally:
            self._end(call, sizes, worst)

    def budget_spent(self) -> BudgetSpent:
        """The error for a call that the budget has too little left for."""
        assert self._account.cap is not None
        return BudgetSpent(self._account.cap)

    def _begin(self, sizes: Sequence[int], worst: Usage, request: str) -> Call:
        answer = worst.output_tokens
        is_capped = self._account.cap is not None
        while True:
            with self._changed:
                likely = self._measured.likely_most(sizes, worst)
                held = Usage(0, likely.input_tokens, answer) if is_capped else Usage()
                call = self._account.begin(request, held)
                if call is not None:
                    self._under_way.add(call.key)
                    return replace(call, answer_limit=answer if is_capped else None)
                answer = worst.output_tokens
                if self._under_way:
                    self._changed.wait()
                    continue
            if self._account.await_others():
                continue
            left = self._account.left(likely.input_tokens)
            if left is not None and left < max(likely.output_tokens, 1):
                raise self.budget_spent()
            answer = answer if left is None else min(left, answer)

    def _end(self, call: Call, sizes: Sequence[int], worst: Usage) -> None:
        cost = self._cost(call.cost, worst)
        call.lost &= not cost.calls
        billed = call.held if call.lost else cost
        price = self._account.price
        try:
            # Recorded before the call is no longer under way, so that no other call takes the money in between.
            usd = price.of(billed) if price and billed != Usage() else None
            self._account.end(call, billed + -call.held, usd, self.replies)
        finally:
            with self._changed:
                if cost.calls:
                    self._measured.add(sizes, cost)
                self._under_way.discard(call.key)
                self._changed.notify_all()

    def _cost(self, usage: Usage, worst: Usage) -> Usage:
        """Return `usage`; under a cap, the worst case if the server answered without reporting its usage."""
        if self._account.cap is None or not usage.calls or usage.input_tokens:
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
    settings = SpendingSettings.current()
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
    written = SpendingSettings.current().ai_monthly_budget
    return Cap.parse(written) if written else None


def find_ledger(run_id: str) -> Ledger:
    """The ledger of a run; everyone in this process shares one.

    When nobody uses it any more, the next one is made with the settings of that time. Other processes that work on the
    run have ledgers of their own, with the same account.

    Raises:
        As `cap_and_price`.
    """
    cap, price = limits = cap_and_price()
    with _opening:
        ledger = _open.get((run_id, limits))
        if ledger is None:
            no_model = cap is not None and cap.usd is not None and price is None
            account = RunAccount(run_id, (None if no_model else cap, price), _find_month_cap())
            ledger = _open[run_id, limits] = Ledger(account, _measure_usage(database.url(), run_id))
        return ledger


def make_question_ledger() -> Ledger | None:
    """The ledger of a single question outside of any run, for its answer and the check of it; None without a budget.

    Raises:
        As `cap_and_price`.
    """
    cap, price = cap_and_price()
    return None if cap is None or SpendingSettings.current().ai_model is None else Ledger(Account(cap, price))


_open: WeakValueDictionary[tuple[str, _CapAndPrice], Ledger] = WeakValueDictionary()
_opening = Lock()


@lru_cache(maxsize=_MOST_MEASURED)
def _measure_usage(_database: str, _run_id: str) -> MeasuredUsage:
    """What a run's calls have used in this process; kept here as a ledger lasts only for the work on one company."""
    return MeasuredUsage()


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
