"""The emulator as a program of its own, for benchmarks: it shares no interpreter with what is measured.

with EmulatorProcess(folders=1000, files=20_000, latency=0.05) as drive:
    drive.addresses["endpoint"], drive.addresses["access_token"], drive.addresses["folder_id"]
    drive.reset()
    ...
    drive.counts()["requests"]
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import httpx

_ROOT = Path(__file__).parents[2]


class EmulatorProcess:
    """`python -m tests.google` with these options (`latency=0.05` is `--latency 0.05`)."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self.addresses: dict[str, Any] = {}

    def __enter__(self) -> Self:
        words = []
        for name, value in self._options.items():
            if value is not False:
                words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.google", *words], cwd=_ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self.__exit__()
            raise RuntimeError("The Drive emulator did not start.")
        self.addresses = json.loads(line)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()  # it ends when its input does
        self._process.wait(20)
        self._process.stdout.close()

    def counts(self) -> dict[str, Any]:
        """The figures of `counting.Counts`."""
        found: dict[str, Any] = self._ask("counts")
        return found

    def reset(self) -> None:
        self._ask("reset", {})

    def set(self, **settings: Any) -> None:
        """Settings of `settings.Settings`."""
        self._ask("settings", settings)

    def faults(self, *faults: dict[str, Any]) -> None:
        """These faults (`faults.Fault` as mappings) and no others."""
        self._ask("faults", list(faults))

    def _ask(self, what: str, body: Any = None) -> Any:
        method = "GET" if body is None else "POST"
        response = httpx.request(method, f"{self.addresses['control_uri']}{what}", json=body, timeout=30)
        return response.raise_for_status().json()
