"""Many callers of one model server: how many call at once, who waits after a refusal, and that no call is lost."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event, Lock, Thread

import pytest
from sqlmodel import select

from storage import database
from storage.model_calls import StoredAnswer
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.client import SERVER_LIMIT
from tasks.errors import TooManyRequests
from tests.servers.openai_server import Behaviour, ModelRequest, ModelResponse, ModelServer, busy, saying, slow

FIRST, MOST = SERVER_LIMIT.start_at or 0, SERVER_LIMIT.at_once or 0


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def asking(server: ModelServer, **options: object) -> OpenAiAnswerer:
    return OpenAiAnswerer("small", base_url=server.url, **{"pause": 0.01, **options})  # type: ignore[arg-type]


def every_third(refusal: Behaviour) -> Behaviour:
    numbers, lock = count(1), Lock()

    def behave(request: ModelRequest) -> ModelResponse:
        with lock:
            number = next(numbers)
        return (saying("Yes.") if number % 3 else refusal)(request)

    return behave


@pytest.mark.slow
def test_a_thousand_calls_with_every_third_refused_lose_none(server: ModelServer) -> None:
    server.always(every_third(busy()))
    answerer = asking(server)
    with ThreadPoolExecutor(32) as pool:
        texts = list(pool.map(lambda number: answerer.answer(f"Is it {number}?", []).text, range(1000)))
    assert texts == ["Yes."] * 1000
    assert len(server.requests) == 1499
    assert answerer.side_by_side < MOST


def test_a_retry_after_holds_all_callers_of_the_address_back(server: ModelServer) -> None:
    times: list[float] = []

    def behave(request: ModelRequest) -> ModelResponse:
        times.append(time.monotonic())
        return (busy("1") if len(times) == 1 else saying("Yes."))(request)

    server.always(behave)
    first = Thread(target=lambda: asking(server).answer("Is it?", []))
    first.start()
    while not times:
        time.sleep(0.01)
    time.sleep(0.1)  # the answer is on its way
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: asking(server).answer("Is it?", []), range(8)))
    first.join()
    assert len(times) == 10
    assert min(times[1:]) - times[0] > 0.9
    assert max(times[1:]) - min(times[1:]) > 0.02  # one after the other


def test_no_more_call_at_once_than_the_limit_allows(server: ModelServer) -> None:
    server.always(slow(0.2))
    answerer = asking(server)
    with ThreadPoolExecutor(40) as pool:
        list(pool.map(lambda _: answerer.answer("Is it?", []), range(120)))
    assert FIRST < server.most_at_once <= MOST


def test_how_many_calls_a_server_takes_is_kept_among_no_answers(server: ModelServer) -> None:
    def kept() -> dict[str, object]:
        with database.reading() as session:
            return {row.key: row.answer for row in session.exec(select(StoredAnswer))}

    server.always(slow(0.1))
    asking(server).answer("Is it?", [])
    before = kept()
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: asking(server).answer("Is it?", []), range(60)))
    assert server.most_at_once > FIRST
    assert kept() == before, "what differs with each run is no answer"


def test_a_server_that_is_always_busy_is_given_up_by_all(server: ModelServer) -> None:
    server.always(busy())
    answerer = asking(server, patience=0.3)

    def ask(_: int) -> bool:
        with pytest.raises(TooManyRequests):
            answerer.answer("Is it?", [])
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(16)))
    before = len(server.requests)
    assert ask(0)  # who comes later does not wait for the same again
    assert len(server.requests) == before + 1


def test_one_that_is_refused_while_others_are_answered_is_patient(server: ModelServer) -> None:
    refused = count()

    def behave(request: ModelRequest) -> ModelResponse:
        unlucky = "unlucky" in request.prompt and next(refused) < 12
        return (busy() if unlucky else saying("Yes."))(request)

    server.always(behave)
    answerer, done = asking(server), Event()

    def others() -> None:
        while not done.is_set():
            answerer.answer("Is it?", [])
            time.sleep(0.02)

    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(others)
        try:
            assert asking(server, patience=0.5).answer("Is it unlucky?", []).text == "Yes."
        finally:
            done.set()
        running.result()


def test_what_timed_out_in_a_crowd_is_asked_once_more_alone(server: ModelServer) -> None:
    """A server that works off one question after the other answers the last of them too late."""
    seen: set[str] = set()
    under_way = most = 0

    def late_at_first(request: ModelRequest) -> ModelResponse:
        nonlocal under_way, most
        first = request.prompt not in seen
        seen.add(request.prompt)
        if first:
            return slow(20)(request)
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.3)
        under_way -= 1
        return saying("Yes.")(request)

    server.always(late_at_first)
    answerer = asking(server, timeout=3, patience=3)  # as the settings have it: the time limit is the patience
    with ThreadPoolExecutor(FIRST) as pool:
        answers = [pool.submit(answerer.answer, f"Is it {number}?", []) for number in range(FIRST)]
        assert [answer.result().text for answer in answers] == ["Yes."] * FIRST
    assert len(server.requests) == 2 * FIRST
    assert len(server.cancelled) == FIRST
    assert most == 1
