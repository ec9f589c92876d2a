"""The service is stopped: nobody new gets in, nothing that was begun is lost."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from tests.servers.openai_server import ModelServer
from tests.waiting import free_port, wait_for

ASK, QUESTION = "/v1/ai/question", '{"question": "Why?"}'


@contextmanager
def service(port: int, workers: int = 1, *, health: str = "ready") -> Iterator[subprocess.Popen[str]]:
    """The service as a process that is ready, or `live`."""
    command = f"from api.app import serve; serve('127.0.0.1', {port}, {workers})"
    with subprocess.Popen([sys.executable, "-c", command], stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: is_ready(port, health) or process.poll() is not None)
            assert process.poll() is None, process.stderr and process.stderr.read()
            yield process
        finally:
            process.kill()


def request(port: int, method: str, path: str, body: str | None = None) -> int:
    """The status of an answer, over a connection of its own; `httpx` would load certificates for each.

    Raises:
        ConnectionRefusedError: nobody listens. OSError, HTTPException: the request is lost.
    """
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.connect()
        connection.request(method, path, body, {"Content-Type": "application/json"})
        return connection.getresponse().status


def is_ready(port: int, health: str = "ready") -> bool:
    try:
        return request(port, "GET", f"/health/{health}") == 200
    except (OSError, HTTPException):
        return False


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"])
def workers(request: pytest.FixtureRequest) -> int:
    return int(request.param)


class SlowModel(ModelServer):
    """A model that answers once it may."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        super().__init__(says=lambda _: str(self.may_answer.wait(60)))


@pytest.fixture
def slow_model(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowModel]:
    with SlowModel() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "slow")
        yield model
        model.may_answer.set()


@contextmanager
def asked(port: int, model: ModelServer) -> Iterator[list[object]]:
    """What a question ends with, which waits for the model from the block's beginning on, once the block has ended."""
    ended: list[object] = []

    def ask() -> None:
        try:
            ended.append(request(port, "POST", ASK, QUESTION))
        except (OSError, HTTPException) as error:
            ended.append(type(error).__name__)

    thread = threading.Thread(target=ask)
    thread.start()
    while not model.requests:
        time.sleep(0.02)
    yield ended
    thread.join()


def wait_until_refused(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            request(port, "GET", "/health/live")
        except ConnectionRefusedError:
            return
        except (OSError, HTTPException):  # taken by a listener that was about to close
            pass
        time.sleep(0.05)
    pytest.fail("new connections are still taken")


@pytest.mark.slow  # `test_server.py` has a body that is waited for
def test_new_connections_are_refused_while_a_model_is_waited_for(slow_model: SlowModel, workers: int) -> None:
    port = free_port()
    with service(port, workers) as process:
        with asked(port, slow_model) as ended:
            process.send_signal(signal.SIGTERM)
            wait_until_refused(port)
            assert ended == []
            slow_model.may_answer.set()
        process.wait(60)
    assert ended == [200]


@pytest.mark.slow
def test_what_takes_too_long_is_cut_off(slow_model: SlowModel, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_SHUTDOWN_TIMEOUT", "2")
    port = free_port()
    with service(port, workers) as process:
        with asked(port, slow_model) as ended:
            process.send_signal(signal.SIGTERM)
            wait_until_refused(port)
        process.wait(60)
    assert not slow_model.may_answer.is_set()
    assert ended != [200]


@pytest.mark.nightly  # one to two minutes
@pytest.mark.slow
@pytest.mark.timeout(600)  # four starts of a service beside its own load
def test_a_rolling_restart_under_load_loses_no_request(room: Path) -> None:
    """Two services behind what a proxy does: where a connection is refused, the other service is tried."""
    ports = [free_port(), free_port()]
    stop, lost, answered = threading.Event(), list[object](), [0, 0]

    def call(turn: int) -> None:
        status: object
        while not stop.is_set():
            turn += 1
            for port in (ports[turn % 2], ports[(turn + 1) % 2]):
                try:
                    status = request(port, "POST", ASK, QUESTION)
                except ConnectionRefusedError:
                    continue
                except (OSError, HTTPException) as error:
                    status = type(error).__name__
                answered[ports.index(port)] += 1
                if status != 200:
                    lost.append(status)
                break
            else:
                lost.append("both refused")
            time.sleep(0.02)

    with ExitStack() as services:
        processes = [services.enter_context(service(port, workers)) for workers, port in enumerate(ports, 1)]
        clients = [threading.Thread(target=call, args=(number,)) for number in range(8)]
        for client in clients:
            client.start()
        try:
            for index, port in enumerate(ports):
                time.sleep(1)
                processes[index].send_signal(signal.SIGTERM)
                assert processes[index].wait(60) in {0, -signal.SIGTERM}
                processes[index] = services.enter_context(service(port, index + 1))
            time.sleep(1)
        finally:
            stop.set()
            for client in clients:
                client.join()
    assert lost == []
    assert min(answered) > 50
