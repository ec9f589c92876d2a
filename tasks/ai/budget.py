"""What a call cost where the server does not tell, or tells what cannot be right.

What a run may spend and what it has spent: no call is made whose worst case does not fit any more.

The worst case is all that the prompt can be and the longest answer allowed. While a call runs its worst
case is held, so that calls side by side cannot spend the same money twice; what it really cost takes the
place of what was held. A discount of the server, as for prompts seen before, only leaves more over.

What a run may spend on the model and has spent: the settings, the prices and the run's row brought together.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from typing import ClassVar
from weakref import WeakValueDictionary

from storage import database, runs
from tasks.ai.answerer import Usage
from tasks.ai.money import Cap, Price
from tasks.ai.prices import SETTING as PRICES
from tasks.ai.prices import price_of
from tasks.ai.settings import AiSettings
from tasks.errors import DiligenceError, NotConfigured
from tasks.text.tokens import most_model_tokens, usual_model_tokens

__all__ = ["SETTING", "BudgetSpent", "Cap", "Ledger", "Price"]


_TEMPLATE = 2_000  # tokens that a server may add to a prompt


def tells(usage: Usage, prompt: str) -> bool:
    """Whether the tokens read are a number that can be right: no vocabulary has a token below a byte."""
    return 0 < usage.input_tokens <= len(prompt.encode()) + _TEMPLATE


def counted(usage: Usage, prompt: str, answer: str | None, limit: int | None) -> Usage:
    """The cost as told, and where it is not told as the texts say.

    With a cap (`limit`, tokens of an answer) that is the most it can have been. `answer` is None where what was
    said is not known.
    """
    estimate = most_model_tokens if limit is not None else usual_model_tokens
    read, written = usage.input_tokens, usage.output_tokens
    if not tells(usage, prompt):
        read = estimate(prompt)
    if not written:
        written = (limit or 0) if answer is None else estimate(answer)
    return Usage(usage.calls, read, written)


SETTING = "DILIGENCE_AI_BUDGET"
LONGEST_ANSWER, SHORTEST_ANSWER = 4096, 512  # tokens; some hundreds hold a judgement, thousands what a model thinks


class BudgetSpent(DiligenceError):
    """The next call could take the run above its cap, so it is not made. No failure of the model."""

    status, slug, title = 402, "budget-spent", "The budget is spent"
    opening: ClassVar[str] = "The budget is spent"

    def __init__(self, cap: Cap) -> None:
        super().__init__(
            f"{self.opening}: one more call could take the run above {cap}. Raise {SETTING} and start the run "
            "again; no answer is paid for twice."
        )
        self.cap = cap

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.cap,)


class Ledger:
    """The money of one run, for any number of threads."""

    def __init__(
        self,
        cap: Cap | None,
        price: Price | None,
        spent: Usage,
        usd: float | None,
        keep: Callable[[Usage, float | None], None],
        *,
        ahead: bool = False,
    ) -> None:
        """Go on from what was spent.

        Args:
            cap: the most that may be spent; None for no limit.
            price: of the model; None where it is not known, and then no cap may be in USD.
            spent: what the run has spent already.
            usd: the same in USD, as far as it was known; at least what `price` says is taken.
            keep: writes down what was spent more, in tokens and in USD (None: nothing to add, or no price).
            ahead: with a cap, also give `keep` the tokens of the worst case before a call (no call and no USD)
                and take back after it what was too much: a process that is killed has then not spent unseen.
        """
        if cap is not None and cap.usd is not None and price is None:
            raise ValueError("a cap in USD needs a price")
        self._cap, self._price, self._keep = cap, price, keep
        self._ahead = ahead and cap is not None
        self._spent = spent
        self._usd = max(usd or 0.0, price.of(spent)) if price else usd  # tokens kept ahead were not yet priced
        self._held = Usage()
        self._changed = Condition()
        self.answer_limit = _answer_limit(cap, price)

    @property
    def spent(self) -> Usage:
        """What was spent so far, without what is held."""
        with self._changed:
            return self._spent

    @property
    def usd(self) -> float | None:
        """What was spent so far in USD; None without a price."""
        with self._changed:
            return self._usd

    @contextmanager
    def call(self, prompt_tokens: int) -> Iterator[Callable[[Usage], None]]:
        """Hold the worst case of a single call within the block, which gives what settles its real cost.

        `prompt_tokens` is the most that the prompt can be (`tokens.most_model_tokens`). A call that ends without being
        settled costs nothing. Where the worst case fits only if calls that are under way cost less than
        theirs, this waits for them. Calls must not be held within one another.

        Raises:
            BudgetSpent: the worst case does not fit; nothing was asked.
        """
        worst = Usage(0, prompt_tokens, self.answer_limit or 0)
        ahead, cost = Usage(), list[Usage]()
        self._hold(worst)

        def settle(usage: Usage) -> None:
            cost.append(self._told(usage, worst))

        try:
            if self._ahead:
                self._keep(worst, None)
                ahead = worst
            yield settle
        finally:
            self._release(worst, ahead, sum(cost, Usage()))

    def _hold(self, worst: Usage) -> None:
        with self._changed:
            while self._above(self._held + worst):
                if self._cap is not None and self._above(worst):
                    raise BudgetSpent(self._cap)
                self._changed.wait()
            self._held += worst

    def _release(self, worst: Usage, ahead: Usage, cost: Usage) -> None:
        # Written down before the hold ends, so that nobody takes the money in between.
        more = cost + _negative(ahead)
        priced = self._price.of(cost) if self._price and cost != Usage() else None
        try:
            if more != Usage():
                self._keep(more, priced)
        finally:
            with self._changed:
                self._held += _negative(worst)
                self._spent += cost
                if priced is not None:
                    self._usd = (self._usd or 0.0) + priced
                self._changed.notify_all()

    def _above(self, more: Usage) -> bool:
        """Whether `more` on top of what was spent is above the cap."""
        cap, price = self._cap, self._price
        if cap is None:
            return False
        if cap.tokens is not None:
            return _tokens(self._spent + more) > cap.tokens
        assert price is not None
        assert cap.usd is not None
        return (self._usd or 0.0) + price.of(more) > cap.usd

    def _told(self, usage: Usage, worst: Usage) -> Usage:
        """`usage`, or under a cap the worst case where the server answered and did not say what it cost."""
        if self._cap is None or not usage.calls or usage.input_tokens:
            return usage
        return Usage(usage.calls, worst.input_tokens, usage.output_tokens or worst.output_tokens)


def _answer_limit(cap: Cap | None, price: Price | None) -> int | None:
    """A quarter of all that the cap buys, within bounds: a small cap must not go into one answer's worst case."""
    if cap is None:
        return None
    buys: float = LONGEST_ANSWER * 4
    if cap.tokens is not None:
        buys = cap.tokens
    elif cap.usd is not None and price is not None and price.output > 0:
        buys = cap.usd / price.output * 1_000_000
    return int(max(SHORTEST_ANSWER, min(LONGEST_ANSWER, buys / 4)))


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _negative(usage: Usage) -> Usage:
    return Usage(-usage.calls, -usage.input_tokens, -usage.output_tokens)


_NOTHING = 1e-9  # USD; what sums of floats are off by
_Terms = tuple[Cap | None, Price | None]


def terms() -> _Terms:
    """The most that a run may spend, and the price of its model; each None where there is none.

    Raises:
        NotConfigured: the cap is in USD and the model's price is not known.
        BadRequest: what is wrong in the user's file of prices.
    """
    settings = AiSettings.current()
    cap = Cap.parse(settings.ai_budget) if settings.ai_budget else None
    model = settings.ai_model
    price = price_of(model, settings.ai_prices) if model else None
    if model and price is None and cap is not None and cap.usd is not None:
        where = f"the file that {PRICES} names" if settings.ai_prices else f"a file, and name it in {PRICES}"
        raise NotConfigured(
            f"{SETTING} is {cap}, but no price is known for {model}. Write its price into {where}: "
            f'[models], and below it "{model}" = {{ input = 0.15, output = 0.60 }}, in USD for a million tokens '
            "(0 for a server of your own). Or give the budget in tokens."
        )
    return cap, price


def ledger_of(run_id: str) -> Ledger:
    """The ledger of a run, the same one for everybody in this process who holds it.

    It goes on from the run's row, to which it writes at once what is spent. Once nobody holds it, the row
    knows all that it knew: the next one starts from there, whatever the settings say by then. Two processes
    never work on the same run (`flows.run.run_of`).

    Raises:
        As `terms`.
    """
    agreed = terms()
    with _opening:
        ledger = _open.get((run_id, agreed))
        if ledger is None:
            ledger = _open[run_id, agreed] = _from_row(run_id, agreed)
        return ledger


_open: WeakValueDictionary[tuple[str, _Terms], Ledger] = WeakValueDictionary()
_opening = Lock()


def _from_row(run_id: str, agreed: _Terms) -> Ledger:
    def keep(usage: Usage, usd: float | None) -> None:
        with database.writing() as session:
            runs.add_cost(session, run_id, usage.calls, usage.input_tokens, usage.output_tokens, usd)

    cap, price = agreed
    with database.reading() as session:
        run = runs.get_run(session, run_id)
        spent, usd = Usage(run.calls, run.input_tokens, run.output_tokens), run.usd
    # The price became known in the middle of the run, or a process was killed in the middle of a call.
    unpriced = price.of(spent) - (usd or 0.0) if price else 0.0
    if unpriced > _NOTHING:
        keep(Usage(), unpriced)
    if cap is not None and cap.usd is not None and price is None:  # no model is asked
        cap = None
    return Ledger(cap, price, spent, usd, keep, ahead=True)
