"""Large bodies share the service's memory: who does not fit waits, in order, and small ones pass."""

import socket

import anyio
import httpx
import pytest

from api.requests import FREE, MEMORY, Admission, pieces
from tests.api.test_problems import problem

LARGE = 4 * FREE
"""Of which one fits into the memory below, and two do not."""


@pytest.fixture
def admission() -> Admission:
    return Admission(memory=25 * LARGE)


def test_large_bodies_take_their_turns_and_small_ones_pass(admission: Admission) -> None:
    events: list[str] = []

    async def request(name: str, size: int) -> None:
        reserved = await admission.reserve(size)
        events.append(f"{name} in")
        await anyio.sleep(0.01)
        events.append(f"{name} out")
        admission.give_back(reserved)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for name, size in (("a", LARGE), ("b", LARGE), ("small", FREE), ("c", LARGE)):
                group.start_soon(request, name, size)

    anyio.run(main)
    assert [event for event in events if "small" not in event] == ["a in", "a out", "b in", "b out", "c in", "c out"]
    assert events.index("small in") < events.index("a out")


def test_who_hangs_up_while_waiting_leaves_the_queue(admission: Admission) -> None:
    async def main() -> None:
        first = await admission.reserve(LARGE)
        with anyio.move_on_after(0.01) as hung_up:
            await admission.reserve(LARGE)
        assert hung_up.cancelled_caught
        admission.give_back(first)
        with anyio.fail_after(1):
            await admission.reserve(LARGE)

    anyio.run(main)


def test_what_is_larger_than_all_memory_is_admitted_alone() -> None:
    async def main() -> None:
        admission = Admission(memory=1)
        with anyio.fail_after(1):
            admission.give_back(await admission.reserve(LARGE))
            await admission.reserve(LARGE)

    anyio.run(main)


def test_a_long_answer_goes_out_in_pieces() -> None:
    body = bytes(range(256)) * 5000
    assert b"".join(pieces(body)) == body
    assert max(map(len, pieces(body))) <= 256 * 1024


def test_a_client_that_hangs_up_in_its_body_is_no_failure_of_ours(
    service: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"POST /v1/ai/question HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", service.base_url.port or 0), timeout=20) as one:
            one.sendall(head)
    assert service.get("/health/live").status_code == 200
    assert "500" not in caplog.text


def test_bodies_of_middling_length_are_counted_too() -> None:
    async def main() -> None:
        admission = Admission()
        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(admission.reserve, 1024 * 1024)
            await anyio.sleep(0.01)
            assert admission.reserved <= MEMORY
            assert admission.waiting > 50
            group.cancel_scope.cancel()

    anyio.run(main)


@pytest.mark.slow
def test_a_context_comes_back_as_it_was_sent_however_long_it_is(service: httpx.Client) -> None:
    context = 'A "word" in lot 1.\n\tÜber \U0001f600 \\ ' * 60_000
    answer = service.post("/v1/ai/question", json={"question": "Lot 1?", "context": context})
    assert "content-length" not in answer.headers  # it is nowhere whole
    assert list(answer.json()) == ["question", "context", "answer"]
    assert answer.json()["context"] == context


@pytest.mark.slow
def test_a_long_body_of_very_many_values_is_refused(service: httpx.Client) -> None:
    for values in ("[" + "{}," * 120_000 + "{}]", '["' + '","' * 250_000 + '"]'):
        answer = service.post(
            "/v1/ai/question",
            content='{"question": "What?", "more": ' + values + "}",
            headers={"Content-Type": "application/json"},
        )
        assert "100,000 JSON values" in problem(answer, 400, "bad-request")["detail"]
    context = 'commas, brackets [] and {}, "quotes" and \\ ' * 40_000  # are no values within a text
    assert service.post("/v1/ai/question", json={"question": "What?", "context": context}).status_code == 200
