"""What a run may spend on the model and has spent: the settings, the prices and the run's row brought together."""

from threading import Lock
from weakref import WeakValueDictionary

from storage import database, runs
from tasks.ai.answerer import Usage
from tasks.ai.ledger import SETTING, Ledger
from tasks.ai.money import Cap, Price
from tasks.ai.prices import SETTING as PRICES
from tasks.ai.prices import price_of
from tasks.ai.settings import AiSettings
from tasks.errors import NotConfigured

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
