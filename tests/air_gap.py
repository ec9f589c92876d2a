"""Runs commands where there is no route to anywhere, and says which names were looked up: `python -m tests.air_gap`.

A network namespace with nothing but loopback; in it a resolver on 127.0.0.1 (named by a resolv.conf of its own, bound
over the system's in a mount namespace) answers every question with "no such name" and notes it. On Linux, as root or
with user namespaces: unshare(1), resolv.conf(5).
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

CANARY = "looked-up-by-the-test.example"
"""Looked up at the end, so that what is noted is known to be seen."""
_SETUP = 'ip link set lo up && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'


def separated(folder: Path, command: Sequence[str]) -> list[str]:
    """The command that runs `command` in the namespace. `folder` is for the resolv.conf."""
    resolver = folder / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    namespaces = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    return [*namespaces, "sh", "-c", _SETUP, "sh", str(resolver), *command]


def _name(question: bytes) -> str:
    """The name in a question of DNS (RFC 1035, 4.1.2)."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode("latin-1"))
        at += 1 + question[at]
    return ".".join(labels)


def _resolve(server: socket.socket, names: list[str]) -> None:
    while True:
        question, client = server.recvfrom(4096)
        names.append(_name(question))
        server.sendto(question[:2] + b"\x81\x83" + question[4:6] + bytes(6) + question[12:], client)


def main(commands: Sequence[Sequence[str]]) -> None:
    """Run the commands one after the other; print the status and output of each, and the names, as JSON."""
    names: list[str] = []
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    threading.Thread(target=_resolve, args=(server, names), daemon=True).start()
    ended = []
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        ended.append([done.returncode, (done.stdout + done.stderr)[-4000:]])
    try:
        socket.getaddrinfo(CANARY, 80)
    except OSError as error:
        canary = str(error)
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    print(json.dumps({"ended": ended, "names": names, "canary": canary, "routes": routes}))  # noqa: T201


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
