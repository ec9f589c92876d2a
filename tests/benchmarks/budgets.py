"""What a budget buys, and which paid calls a killed run tells of.

python -m tests.benchmarks budgets

A batch of rooms of prose and of tables is judged by a model on loopback that counts and writes as models do: its
answers differ in length, a few are ten times as long as the others, each reads its prompt by its own count. Runs
under a cap of 60 % of that cost follow, in tokens and in USD; then runs that are killed half-way, and started again.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from tasks.spending.money import Usage
from tests.benchmarks.batches import room_of, write_batch
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, count, saying

_COMPANIES: Final = 4
_CRITERIA: Final = 12
_SEEDS: Final = 3
_KILLS: Final = 8
_PRICE: Final = (2.0, 8.0)
"""USD for a million tokens, read and written."""
_PLAN: Final = json.dumps({"wordings": ["revenue"]})
_SENTENCE: Final = re.compile(r"The revenue of company \d was \d+ million euros in the year\.")
_LIMITS: Final = ("max_output_tokens", "max_completion_tokens", "max_tokens")


class _Till:
    """The model, and what it has billed; `seed` decides how long its answers are."""

    def __init__(self, server: ModelServer, seed: int, delay: float = 0.0) -> None:
        self._chance = random.Random(seed)
        self._delay = delay
        self._lock = Lock()
        self.billed = Usage()
        server.always(self.behave)

    def behave(self, request: ModelRequest) -> ModelResponse:
        with self._lock:
            words = int(self._chance.lognormvariate(4.0, 0.4)) * (10 if self._chance.random() < 0.03 else 1)
            read = int(count(request.prompt) * self._chance.uniform(1.05, 1.35))
            written = next((request.body[name] for name in _LIMITS if request.body.get(name)), 100_000)
            written = min(words + 60, written)
            self.billed += Usage(1, read, written)
        text = _PLAN if request.asks_for_plan else _verdict(words, request.prompt)
        return replace(saying(text, usage=(read, written))(request), delay=self._delay)

    @property
    def usd(self) -> float:
        return (self.billed.input_tokens * _PRICE[0] + self.billed.output_tokens * _PRICE[1]) / 1e6


def _verdict(words: int, prompt: str) -> str:
    quoted = _SENTENCE.search(prompt)
    quotes = [{"source": 1, "text": quoted[0], "stance": "for"}] if quoted else []
    reason = " ".join(["It is said in the letter."] * (words // 6 + 1))
    return json.dumps({"found": True, "score": 4, "reason": reason, "quotes": quotes})


class _Outcome(NamedTuple):
    scored: int
    calls: int
    unknown_calls: int
    till: _Till


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder:
        batch = _write_batch(Path(folder))
        yield from _capped(batch)
        yield from _killed(batch)


def _capped(batch: Path) -> Iterator[tuple[str, str, str]]:
    judgements = _COMPANIES * _CRITERIA
    for unit in ("tokens", "USD"):
        shares, spent = [], []
        for seed in range(_SEEDS):
            whole = _run(batch, seed)
            cap = 0.6 * (whole.till.billed.tokens if unit == "tokens" else whole.till.usd)
            part = _run(batch, seed + 100, budget=f"{cap:.0f} tokens" if unit == "tokens" else f"{cap:.6f} USD")
            shares.append(part.scored / judgements)
            spent.append((part.till.billed.tokens if unit == "tokens" else part.till.usd) / cap)
        figure = ", ".join(
            f"{share:.0%} for {of_cap:.0%} of the cap" for share, of_cap in zip(shares, spent, strict=True)
        )
        yield f"judgements that a cap of 60 % of the cost buys, in {unit}", figure, "≥ 50 %, ≤ 100 % of the cap"


def _killed(batch: Path) -> Iterator[tuple[str, str, str]]:
    billed = told = unknown = 0
    for seed in range(_KILLS):
        outcome = _run(batch, seed, kill_after=3 + 5 * seed)
        billed += outcome.till.billed.calls
        told += outcome.calls
        unknown += outcome.unknown_calls
    figure = f"{billed} billed, {told} told as answered and {unknown} as asked with their answers unknown"
    yield f"calls of {_KILLS} runs that were killed, and ended later", figure, "billed ≤ told"


def _write_batch(folder: Path) -> Path:
    chance = random.Random(1)
    for number in range(_COMPANIES):
        room = room_of(folder, number)
        for document in range(12):
            sentence = f"The revenue of company {number} was {document} million euros in the year. "
            prose = sentence * chance.randint(5, 60)
            rows = "\n".join(f"Item {row}\t{chance.randint(1, 99_999):,}\t{row}.5 %" for row in range(40))
            (room / f"{document}.txt").write_text(prose if document % 3 else f"\t2024\tShare\n{rows}")
    (folder / "prices.toml").write_text(f'[models]\n"a-*" = {{ input = {_PRICE[0]}, output = {_PRICE[1]} }}\n')
    asked = [f'id: q{number}, ask: "Is revenue source {number} secure?"' for number in range(_CRITERIA)]
    return write_batch(folder, "Budgets", _COMPANIES, asked)


def _run(batch: Path, seed: int, *, budget: str | None = None, kill_after: int | None = None) -> _Outcome:
    with ModelServer() as model, tempfile.TemporaryDirectory() as home:
        till = _Till(model, seed, delay=0.05 if kill_after else 0.0)
        environment = os.environ | {
            "DILIGENCE_HOME": home,
            "PREFECT_HOME": f"{home}/prefect",
            "DILIGENCE_AI_MODEL": "a-model",
            "DILIGENCE_AI_PRICES": str(batch.with_name("prices.toml")),
            "OPENAI_API_KEY": "a-key",
            "OPENAI_BASE_URL": model.url,
        }
        environment.pop("PREFECT_API_URL", None)
        if budget:
            environment["DILIGENCE_AI_BUDGET"] = budget
        words = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", f"{home}/report"]
        if kill_after:
            _start_and_kill(words, environment, till, kill_after)
        subprocess.run(words, env=environment, check=False, capture_output=True)
        report: dict[str, Any] = json.loads((Path(home) / "report" / "report.json").read_text())
        cost = report["run"]["cost"]
        criteria = [each for company in report["companies"] for each in company["criteria"]]
        scored = sum(each["status"] == "scored" for each in criteria)
        return _Outcome(scored, cost["calls"], cost.get("unknown_calls", 0), till)


def _start_and_kill(words: list[str], environment: dict[str, str], till: _Till, after: int) -> None:
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        while till.billed.calls < after and process.poll() is None:
            time.sleep(0.005)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # its Prefect server and readers too
