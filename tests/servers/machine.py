"""Another machine, as far as the network can tell: a namespace with a cable to this one (`man 8 ip-netns`).

Only root may make one. When its power goes, it sends nothing more: not even that its connections are closed.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

IS_POSSIBLE: Final = os.geteuid() == 0 and bool(shutil.which("ip")) and bool(shutil.which("nsenter"))


class Machine:
    """The other machine. `address` is where this one is reached from there. A context manager."""

    def __init__(self) -> None:
        number = os.getpid() % 60_000
        self._name, self._cable = f"machine-{number}", f"cable-{number}"
        self.address = f"10.{213 + number // 250 % 40}.{number % 250}.1"

    def __enter__(self) -> Self:
        other = self.address.removesuffix("1") + "2"
        for command in (
            f"netns add {self._name}",
            f"link add {self._cable} type veth peer name eth0 netns {self._name}",
            f"addr add {self.address}/24 dev {self._cable}",
            f"link set {self._cable} up",
            f"-n {self._name} addr add {other}/24 dev eth0",
            f"-n {self._name} link set eth0 up",
            f"-n {self._name} link set lo up",
        ):
            _ip(command)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _ip(f"link del {self._cable}")
        _ip(f"netns del {self._name}")

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[str]":
        """Start a program there."""
        within = ["nsenter", f"--net=/run/netns/{self._name}", *command]
        return subprocess.Popen(within, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @contextmanager
    def unplugged(self) -> Iterator[None]:
        """Have nothing reach it, nor leave it, while the block runs."""
        _ip(f"-n {self._name} link set eth0 down")
        try:
            yield
        finally:
            _ip(f"-n {self._name} link set eth0 up")

    def cut_power(self, process: "subprocess.Popen[str]") -> None:
        """End what runs there, so that nobody hears of it."""
        _ip(f"-n {self._name} link set eth0 down")
        process.kill()


def _ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True, capture_output=True)
