"""Asking the sources: side by side, each within its time, their words remembered and used again."""

import logging
import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import timedelta

import pytest

from storage.companies import answers_on
from storage.database import now, reading
from tasks.companies import facts
from tasks.companies.facts import ask_all
from tasks.companies.sources import Claim, FactSource, Finding
from tasks.errors import DiligenceError, NotConfigured, SourceFailed, TookTooLong, Unavailable

pytestmark = pytest.mark.usefixtures("facts")


class Source:
    """A source that says what it is told to, and counts how often it was asked."""

    def __init__(self, name: str, say: Callable[[], Finding | None], origin: str | None = "http://one.example") -> None:
        self.name = name
        self.origin = origin
        self.say = say
        self.asked = 0

    def facts(self, domain: str) -> Finding | None:
        self.asked += 1
        return self.say()

    def domains(self, name: str) -> Sequence[str]:
        return []


def saying(value: str, *warnings: str) -> Callable[[], Finding | None]:
    """Says that this is the company's name."""
    return lambda: Finding([Claim(field="name", value=value, source="one", retrieved_at=now())], list(warnings))


def failing(error: Exception) -> Callable[[], Finding | None]:
    def fail() -> Finding | None:
        raise error

    return fail


def ask(*sources: FactSource) -> list[Finding | DiligenceError | None]:
    return [word.said for word in ask_all(sources, "alpha.example")]


def name_of(said: Finding | DiligenceError | None) -> str:
    assert isinstance(said, Finding)
    return str(said.claims[0].value)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets time pass: `later(hours=25)`."""

    def later(**time: float) -> None:
        monkeypatch.setattr(facts, "now", lambda: now() + timedelta(**time))

    return later


def test_sources_are_asked_at_the_same_time_and_answer_in_their_order() -> None:
    together = threading.Barrier(3, timeout=10)

    def say(name: str) -> Callable[[], Finding | None]:
        def wait() -> Finding | None:
            together.wait()  # breaks unless all three are being asked at once
            return saying(name)()

        return wait

    sources = [Source(name, say(name)) for name in ("c", "a", "b")]

    assert [name_of(said) for said in ask(*sources)] == ["c", "a", "b"]


def test_settings_of_the_run_hold_where_the_sources_are_asked() -> None:
    setting: ContextVar[str] = ContextVar("setting", default="of the process")
    token = setting.set("of the run")
    try:

        def say() -> Finding | None:
            return saying(setting.get())()

        source = Source("one", say)
        assert name_of(ask(source)[0]) == "of the run"
    finally:
        setting.reset(token)


def test_a_source_that_takes_too_long_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_TIMEOUT", "0.2")
    end = threading.Event()

    def wait() -> Finding | None:
        end.wait(30)
        return saying("Late")()

    slow, quick = Source("slow", wait), Source("quick", saying("Alpha"))
    try:
        late, said = ask(slow, quick)
    finally:
        end.set()

    assert isinstance(late, TookTooLong)
    assert "slow" in late.message
    assert "DILIGENCE_FACTS_TIMEOUT" in late.message
    assert name_of(said) == "Alpha"


def test_a_word_is_used_again_until_it_is_too_old(later: Callable[..., None]) -> None:
    source = Source("one", saying("Alpha", "a warning of the source"))

    first = ask(source)
    later(hours=23)
    assert ask(source) == first
    assert source.asked == 1

    later(hours=25)
    source.say = saying("Alpha Renamed")
    assert name_of(ask(source)[0]) == "Alpha Renamed"
    assert source.asked == 2


def test_an_age_of_nothing_asks_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_MAX_AGE", "0")
    source = Source("one", saying("Alpha"))

    ask(source)
    ask(source)

    assert source.asked == 2


def test_a_word_on_one_company_is_none_on_another() -> None:
    source = Source("one", saying("Alpha"))

    ask_all([source], "alpha.example")
    ask_all([source], "beta.example")

    assert source.asked == 2


def test_that_a_source_knows_nothing_is_remembered_for_an_hour(later: Callable[..., None]) -> None:
    source = Source("one", lambda: None)

    assert ask(source) == [None]
    later(minutes=59)
    assert ask(source) == [None]
    assert source.asked == 1

    later(minutes=61)
    source.say = saying("Alpha")
    assert name_of(ask(source)[0]) == "Alpha"


def test_that_a_source_knows_nothing_is_remembered_for_a_quarter_of_the_age(
    later: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_MAX_AGE", "1")
    source = Source("one", lambda: None)

    ask(source)
    later(minutes=14)
    ask(source)
    assert source.asked == 1

    later(minutes=16)
    ask(source)
    assert source.asked == 2


def test_a_word_that_another_process_heard_is_used_at_once() -> None:
    source = Source("one", saying("Alpha"))
    ask(source)
    ask(source)

    facts.remember(source, "alpha.example", saying("Beta")())

    assert name_of(ask(source)[0]) == "Beta"
    assert source.asked == 1


def test_another_address_is_asked_for_itself() -> None:
    one = Source("one", saying("Alpha"), "http://one.example")
    other = Source("one", saying("Beta"), "http://other.example")

    assert name_of(ask(one)[0]) == "Alpha"
    assert name_of(ask(other)[0]) == "Beta"
    assert name_of(ask(one)[0]) == "Alpha"
    assert (one.asked, other.asked) == (1, 1)


def test_what_lies_on_this_machine_is_read_each_time() -> None:
    source = Source("files", saying("Alpha"), None)

    ask(source)
    source.say = saying("Beta")

    assert name_of(ask(source)[0]) == "Beta"
    with reading() as session:
        assert answers_on(session, "alpha.example") == []


@pytest.mark.parametrize("error", [Unavailable("It is out of reach."), NotConfigured("It is out of reach.")])
def test_where_a_source_fails_its_older_word_is_used_and_dated(
    later: Callable[..., None], error: DiligenceError
) -> None:
    source = Source("one", saying("Alpha", "a warning of the source"))
    day = f"{now():%Y-%m-%d}"
    ask(source)

    later(days=40)
    source.say = failing(error)
    said = ask(source)[0]

    assert name_of(said) == "Alpha"
    assert isinstance(said, Finding)
    assert said.warnings == ["a warning of the source", f"It is out of reach. What one said on {day} is used."]


def test_an_older_word_that_knew_nothing_does_not_hide_a_failure(later: Callable[..., None]) -> None:
    source = Source("one", lambda: None)
    ask(source)

    later(days=2)
    source.say = failing(Unavailable("It is out of reach."))

    assert isinstance(ask(source)[0], Unavailable)


def test_a_failure_is_not_remembered() -> None:
    source = Source("one", failing(Unavailable("It is out of reach.")))

    assert isinstance(ask(source)[0], Unavailable)
    source.say = saying("Alpha")
    assert name_of(ask(source)[0]) == "Alpha"


def test_a_mistake_of_a_source_leaves_the_others_and_keeps_its_words_to_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = Source("broken", failing(KeyError("words of the source")))
    fine = Source("fine", saying("Alpha"))

    with caplog.at_level(logging.DEBUG):
        mistake, said = ask(broken, fine)

    assert isinstance(mistake, SourceFailed)
    assert "broken" in mistake.message
    assert "KeyError" in caplog.text
    assert "words of the source" not in mistake.message + caplog.text
    assert name_of(said) == "Alpha"


def test_only_those_whose_words_are_old_are_asked(later: Callable[..., None]) -> None:
    early, new = Source("early", saying("Alpha")), Source("new", saying("Beta"))
    ask(early)

    later(hours=1)
    assert [name_of(said) for said in ask(new, early)] == ["Beta", "Alpha"]
    assert (early.asked, new.asked) == (1, 1)


def test_a_remembered_word_is_the_word(later: Callable[..., None]) -> None:
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
    source = Source("one", lambda: Finding(claims, ["first", "second"]))

    first = ask(source)[0]
    again = ask(source)[0]

    assert first == Finding(claims, ["first", "second"])
    assert again == first
    assert source.asked == 1


def test_no_sources_are_no_words() -> None:
    assert ask_all([], "alpha.example") == []
