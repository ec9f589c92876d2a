"""Asking the sources: at the same time, within a time limit, and their answers stored and used again."""

import logging
import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import timedelta

import pytest

from storage.columns import now
from storage.database import reading
from storage.scores import answers_on
from tasks.companies import facts as asking
from tasks.companies.claims import Claim, SourceClaims
from tasks.companies.facts import ask_sources, store_answer
from tasks.companies.sources import FactSource
from tasks.errors import DiligenceError, NotConfigured, SourceFailed, TookTooLong, Unavailable

Answer = Callable[[], SourceClaims | None]

pytestmark = pytest.mark.usefixtures("facts")


class Source:
    """A source with the answer of a test; counts how often it is asked."""

    def __init__(self, name: str, answer: Answer, origin: str | None = "http://one.example") -> None:
        self.name = name
        self.origin = origin
        self.answer = answer
        self.calls = 0

    def facts(self, domain: str) -> SourceClaims | None:
        self.calls += 1
        return self.answer()

    def domains(self, name: str) -> Sequence[str]:
        return []


def answering(value: str, *warnings: str) -> Answer:
    """An answer with that name of the company."""
    return lambda: SourceClaims([Claim(field="name", value=value, source="one", retrieved_at=now())], list(warnings))


def failing(error: Exception) -> Answer:
    def fail() -> SourceClaims | None:
        raise error

    return fail


def ask(*sources: FactSource) -> list[SourceClaims | DiligenceError | None]:
    return [reply for _, reply in ask_sources(sources, "alpha.example")]


def name_of(reply: SourceClaims | DiligenceError | None) -> str:
    assert isinstance(reply, SourceClaims)
    return str(reply.claims[0].value)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets time pass: `later(hours=25)`."""

    def later(**time: float) -> None:
        monkeypatch.setattr(asking, "now", lambda: now() + timedelta(**time))

    return later


def test_sources_are_asked_at_the_same_time_and_answer_in_their_order() -> None:
    together = threading.Barrier(3, timeout=10)

    def answer(name: str) -> Answer:
        def wait() -> SourceClaims | None:
            together.wait()  # breaks unless all three are being asked at once
            return answering(name)()

        return wait

    sources = [Source(name, answer(name)) for name in ("c", "a", "b")]

    assert [name_of(reply) for reply in ask(*sources)] == ["c", "a", "b"]


def test_settings_of_the_run_hold_where_the_sources_are_asked() -> None:
    setting: ContextVar[str] = ContextVar("setting", default="of the process")
    token = setting.set("of the run")
    try:

        def answer() -> SourceClaims | None:
            return answering(setting.get())()

        source = Source("one", answer)
        assert name_of(ask(source)[0]) == "of the run"
    finally:
        setting.reset(token)


def test_a_source_that_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_TIMEOUT", "0.2")
    end = threading.Event()

    def wait() -> SourceClaims | None:
        end.wait(30)
        return answering("Late")()

    slow, quick = Source("slow", wait), Source("quick", answering("Alpha"))
    try:
        late, reply = ask(slow, quick)
    finally:
        end.set()

    assert isinstance(late, TookTooLong)
    assert "slow" in late.message
    assert "DILIGENCE_FACTS_TIMEOUT" in late.message
    assert name_of(reply) == "Alpha"


def test_an_answer_is_used_again_until_it_is_too_old(later: Callable[..., None]) -> None:
    source = Source("one", answering("Alpha", "a warning of the source"))

    first = ask(source)
    later(hours=23)
    assert ask(source) == first
    assert source.calls == 1

    later(hours=25)
    source.answer = answering("Alpha Renamed")
    assert name_of(ask(source)[0]) == "Alpha Renamed"
    assert source.calls == 2


def test_a_maximum_age_of_0_asks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_MAX_AGE", "0")
    source = Source("one", answering("Alpha"))

    ask(source)
    ask(source)

    assert source.calls == 2


def test_an_answer_on_one_company_is_none_on_another() -> None:
    source = Source("one", answering("Alpha"))

    ask_sources([source], "alpha.example")
    ask_sources([source], "beta.example")

    assert source.calls == 2


def test_an_answer_without_facts_is_used_for_an_hour(later: Callable[..., None]) -> None:
    source = Source("one", lambda: None)

    assert ask(source) == [None]
    later(minutes=59)
    assert ask(source) == [None]
    assert source.calls == 1

    later(minutes=61)
    source.answer = answering("Alpha")
    assert name_of(ask(source)[0]) == "Alpha"


def test_an_answer_without_facts_is_used_for_a_quarter_of_the_maximum_age(
    later: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_MAX_AGE", "1")
    source = Source("one", lambda: None)

    ask(source)
    later(minutes=14)
    ask(source)
    assert source.calls == 1

    later(minutes=16)
    ask(source)
    assert source.calls == 2


def test_an_answer_that_another_process_stored_is_used_at_once() -> None:
    source = Source("one", answering("Alpha"))
    ask(source)
    ask(source)

    store_answer(source, "alpha.example", answering("Beta")())

    assert name_of(ask(source)[0]) == "Beta"
    assert source.calls == 1


def test_another_address_has_answers_of_its_own() -> None:
    one = Source("one", answering("Alpha"), "http://one.example")
    other = Source("one", answering("Beta"), "http://other.example")

    assert name_of(ask(one)[0]) == "Alpha"
    assert name_of(ask(other)[0]) == "Beta"
    assert name_of(ask(one)[0]) == "Alpha"
    assert (one.calls, other.calls) == (1, 1)


def test_a_source_on_this_machine_is_read_every_time() -> None:
    source = Source("files", answering("Alpha"), None)

    ask(source)
    source.answer = answering("Beta")

    assert name_of(ask(source)[0]) == "Beta"
    with reading() as session:
        assert answers_on(session, "alpha.example") == []


@pytest.mark.parametrize("error", [Unavailable("It is out of reach."), NotConfigured("It is out of reach.")])
def test_where_a_source_fails_its_older_answer_is_used_with_its_date(
    later: Callable[..., None], error: DiligenceError
) -> None:
    source = Source("one", answering("Alpha", "a warning of the source"))
    day = f"{now():%Y-%m-%d}"
    ask(source)

    later(days=40)
    source.answer = failing(error)
    reply = ask(source)[0]

    assert name_of(reply) == "Alpha"
    assert isinstance(reply, SourceClaims)
    assert reply.warnings == ["a warning of the source", f"It is out of reach. What one said on {day} is used."]


def test_an_older_answer_without_facts_does_not_hide_a_failure(later: Callable[..., None]) -> None:
    source = Source("one", lambda: None)
    ask(source)

    later(days=2)
    source.answer = failing(Unavailable("It is out of reach."))

    assert isinstance(ask(source)[0], Unavailable)


def test_a_failure_is_not_stored() -> None:
    source = Source("one", failing(Unavailable("It is out of reach.")))

    assert isinstance(ask(source)[0], Unavailable)
    source.answer = answering("Alpha")
    assert name_of(ask(source)[0]) == "Alpha"


def test_an_exception_in_a_source_leaves_the_others_and_is_not_quoted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = Source("broken", failing(KeyError("words of the source")))
    fine = Source("fine", answering("Alpha"))

    with caplog.at_level(logging.DEBUG):
        mistake, reply = ask(broken, fine)

    assert isinstance(mistake, SourceFailed)
    assert "broken" in mistake.message
    assert "KeyError" in caplog.text
    assert "words of the source" not in mistake.message + caplog.text
    assert name_of(reply) == "Alpha"


def test_only_sources_with_old_answers_are_asked(later: Callable[..., None]) -> None:
    early, new = Source("early", answering("Alpha")), Source("new", answering("Beta"))
    ask(early)

    later(hours=1)
    assert [name_of(reply) for reply in ask(new, early)] == ["Beta", "Alpha"]
    assert (early.calls, new.calls) == (1, 1)


def test_a_stored_answer_is_the_answer_itself(later: Callable[..., None]) -> None:
    moment = now()
    claims = [
        Claim(
            field="hq",
            value={"city": "Aarhus"},
            source="one",
            url="https://one.example/1",
            retrieved_at=moment,
            as_of="2025",
        ),
        Claim(field="company_size", value=[51, None], source="one", retrieved_at=moment),
        Claim(field="categories", value=[], source="one", retrieved_at=moment),
    ]
    source = Source("one", lambda: SourceClaims(claims, ["first", "second"]))

    first = ask(source)[0]
    again = ask(source)[0]

    assert first == SourceClaims(claims, ["first", "second"])
    assert again == first
    assert source.calls == 1


def test_no_sources_give_no_replies() -> None:
    assert ask_sources([], "alpha.example") == []
