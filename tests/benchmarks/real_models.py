"""Real models on llama.cpp's own server, on this machine's processors: the sample batch, and the trial of models.

python -m tests.benchmarks real_models          the sample on SmolLM2; set are the server's address and the model alone
python -m tests.benchmarks.real_models trials   the table of docs/local-models.md: emulators and real models
python -m tests.benchmarks.real_models sample   the sample, with what was written to the terminal

`make test-all` installs the models, `.venv/.models-installed` is their target. The processor time of the server stands
beside each time by the clock, which other programs on the machine make longer.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final

from storage import database
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.scoring.judge import Trial, try_model
from tests.homes import make_home
from tests.real_models.llama_server import GEMMA3, SMOLLM2, LlamaServer, Model, missing
from tests.servers.openai_server import ModelRequest, ModelServer
from tests.servers.recorder import Exchange, Recorder
from tests.tasks.scoring.test_judge import flattering, right

SAMPLE: Final = Path(__file__).parents[2] / "deployments" / "sample" / "batch.yaml"
_COUNTS: Final = {"cases", "seconds", "calls", "input_tokens", "output_tokens"}
_LIMITS: Final = ("max_output_tokens", "max_completion_tokens", "max_tokens")


@dataclass(frozen=True)
class SampleRun:
    """What a run of the sample took and gave; times in seconds."""

    seconds: float
    cpu_seconds: float
    exchanges: list[Exchange]
    report: dict[str, Any]
    output: str

    @property
    def judged(self) -> list[dict[str, Any]]:
        """The judged criteria of all companies."""
        return [
            criterion
            for company in self.report["companies"]
            for criterion in company["criteria"]
            if criterion["kind"] == "judged"
        ]

    @property
    def refused(self) -> list[int]:
        """The statuses above 399 of calls of the model."""
        return [exchange.status for exchange in self.exchanges if exchange.status >= 400]

    @property
    def given_up(self) -> int:
        """The calls whose answer did not arrive whole, without those that said the same again and again."""
        return sum(not exchange.whole and not exchange.is_loop for exchange in self.exchanges)

    @property
    def unbounded(self) -> int:
        """The calls without a limit on their answer."""
        return sum(not any(name in exchange.body for name in _LIMITS) for exchange in self.exchanges)


def run_sample(model: Model = SMOLLM2, batch: Path = SAMPLE) -> SampleRun:
    """Run the sample batch in a process and a home of its own, on a server of two slots and two threads."""
    with LlamaServer(model) as server, Recorder(server.url) as recorder, tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DILIGENCE_")}
        environment |= {
            "DILIGENCE_HOME": str(make_home(Path(folder) / "home")),
            "PREFECT_HOME": f"{folder}/home/prefect",
            "DILIGENCE_AI_MODEL": model,
            "OPENAI_BASE_URL": recorder.url,
        }
        environment.pop("PREFECT_API_URL", None)
        command = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", f"{folder}/report"]
        began = time.monotonic()
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        seconds = time.monotonic() - began
        report = Path(folder) / "report" / "report.json"
        if not report.exists():
            raise RuntimeError(done.stdout)
        return SampleRun(seconds, server.cpu_seconds, recorder.asked, json.loads(report.read_text()), done.stdout)


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    if reason := missing(SMOLLM2):
        yield "the sample on SmolLM2", reason, "–"
        return
    run = run_sample()
    statuses = Counter(criterion["status"] for criterion in run.judged)
    told = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    time_taken = f"{run.seconds:.0f} s, {run.cpu_seconds:.0f} s of the server's processor time"
    yield "the sample on SmolLM2, two slots, two cores", time_taken, "360 s"
    yield f"its {len(run.exchanges)} calls: given up; refused", f"{run.given_up}; {len(run.refused)}", "0; 0"
    yield "without a limit on the answer", str(run.unbounded), "0"
    yield "its judged criteria", told, "each with a status and a reason"
    without = sum(not criterion["reason"] for criterion in run.judged)
    yield "of them without a reason", str(without), "0"


def trials() -> Iterator[tuple[str, Trial, float | None]]:
    """The name of each model, its trial, and the processor time of its server where it is a real one."""
    emulators: Mapping[str, Callable[[ModelRequest], str]] = {
        "an emulator that is always right": right,
        "an emulator that always praises": flattering,
    }
    for name, says in emulators.items():
        with ModelServer(says) as emulator:
            yield name, try_model(OpenAiAnswerer("emulator", base_url=emulator.url)), None
    names: Mapping[Model, str] = {
        SMOLLM2: "SmolLM2-135M-Instruct, Q4_1",
        GEMMA3: "Gemma 3 270M, Q4_K_M, a base model",
    }
    for model, name in names.items():
        if missing(model) is None:
            with LlamaServer(model) as server:
                trial = try_model(OpenAiAnswerer(model, base_url=server.url, probes=True), longest=inf)
                yield name, trial, server.cpu_seconds


def _print_trials() -> None:
    shares = [name for name in Trial.model_fields if name not in _COUNTS]
    head = ["model", *shares, "s a case (processor)", "tokens", "weak"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["DILIGENCE_HOME"] = str(make_home(Path(folder) / "home"))
        stack.callback(database.close)
        for name, trial, cpu_seconds in trials():
            told = trial.model_dump()
            cells = ["–" if told[share] is None else f"{told[share]:.0%}" for share in shares]
            each, of_server = trial.seconds / trial.cases, (cpu_seconds or 0) / trial.cases
            cells += ["–" if cpu_seconds is None else f"{each:.1f} ({of_server:.1f})"]
            cells += [f"{trial.input_tokens + trial.output_tokens:,}", "yes" if trial.is_weak else "no"]
            print(f"| {' | '.join([name, *cells])} |", flush=True)


def _print_sample() -> None:
    run = run_sample()
    print(run.output)
    for company in run.report["companies"]:
        for criterion in company["criteria"]:
            if criterion["kind"] == "judged":
                print(company["name"], criterion["id"], criterion["status"], criterion["score"], criterion["reason"])
    print(Counter((exchange.path, exchange.status, exchange.whole) for exchange in run.exchanges))
    print(f"{run.seconds:.0f} s, {run.cpu_seconds:.0f} s of the server's processor time, unbounded: {run.unbounded}")


if __name__ == "__main__":
    if sys.argv[1:] == ["trials"]:
        _print_trials()
    elif sys.argv[1:] == ["sample"]:
        _print_sample()
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
