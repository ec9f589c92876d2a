"""The service is stopped: nobody new gets in, nothing that was begun is lost."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.servers.openai_server import ModelServer

ASK = "/v1/ai/question"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def service(port: int, workers: int = 1) -> Iterator[subprocess.Popen[str]]:
    """The service as a process that is ready."""
    command = f"from api.server import serve; serve('127.0.0.1', {port}, {workers})"
    with subprocess.Popen([sys.executable, "-c", command], stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + 120
            while not is_ready(port):
                assert process.poll() is None, process.stderr and process.stderr.read()
                assert time.monotonic() < end
                time.sleep(0.1)
            yield process
        finally:
            process.kill()


def is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/ready", timeout=10).is_success
    except httpx.TransportError:
        return False


def answer_after(seconds: float) -> str:
    time.sleep(seconds)
    return "Yes."


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"])
def workers(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def slow_model(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(says=lambda _: answer_after(4)) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "slow")
        yield model


def ask_and_stop(process: subprocess.Popen[str], port: int, model: ModelServer) -> tuple[list[object], float]:
    """What a question that waits for a model ends with when the service is stopped meanwhile, and after how long."""
    ended: list[object] = []

    def ask() -> None:
        try:
            ended.append(httpx.post(f"http://127.0.0.1:{port}{ASK}", json={"question": "Why?"}, timeout=60).status_code)
        except httpx.TransportError as error:
            ended.append(type(error).__name__)

    thread = threading.Thread(target=ask)
    thread.start()
    while not model.requests:
        time.sleep(0.02)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    time.sleep(1.5)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=3)
    thread.join()
    process.wait(30)
    return ended, time.monotonic() - began


def test_new_connections_are_refused_while_a_model_is_waited_for(slow_model: ModelServer, workers: int) -> None:
    port = free_port()
    with service(port, workers) as process:
        assert ask_and_stop(process, port, slow_model)[0] == [200]


@pytest.mark.slow
def test_what_takes_too_long_is_cut_off(
    slow_model: ModelServer, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_model.says = lambda _: answer_after(12)
    monkeypatch.setenv("DILIGENCE_SHUTDOWN_TIMEOUT", "2")
    port = free_port()
    with service(port, workers) as process:
        ended, seconds = ask_and_stop(process, port, slow_model)
    assert ended != [200]
    assert seconds < 10


@pytest.mark.slow
def test_a_rolling_restart_under_load_loses_no_request(room: Path) -> None:
    """Two services behind what a proxy does: where a connection is refused, the other service is tried."""
    ports = [free_port(), free_port()]
    stop, lost, answered = threading.Event(), [], [0, 0]

    def call(client: int) -> None:
        turn = client
        while not stop.is_set():
            turn += 1
            for port in (ports[turn % 2], ports[(turn + 1) % 2]):
                try:
                    with httpx.Client(timeout=30) as fresh:
                        answer = fresh.post(f"http://127.0.0.1:{port}{ASK}", json={"question": "Why?"})
                    answered[ports.index(port)] += 1
                    if answer.status_code != 200:
                        lost.append(answer.status_code)
                    break
                except httpx.ConnectError:
                    continue
                except httpx.TransportError as error:
                    lost.append(repr(error))
                    break
            else:
                lost.append("both refused")

    with ExitStack() as services:
        processes = [services.enter_context(service(port, 2)) for port in ports]
        clients = [threading.Thread(target=call, args=(number,)) for number in range(8)]
        for client in clients:
            client.start()
        try:
            for index, port in enumerate(ports):
                time.sleep(1)
                processes[index].send_signal(signal.SIGTERM)
                assert processes[index].wait(30) == 0
                processes[index] = services.enter_context(service(port, 2))
            time.sleep(1)
        finally:
            stop.set()
            for client in clients:
                client.join()
    assert lost == []
    assert min(answered) > 50
