"""The source `profile_api`: two calls a company, the provider's names for ours, and credits that may end."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tasks.companies.sources import profile_api
from tasks.companies.sources.profile_api import ProviderState, open_source
from tasks.errors import BadRequest, NotConfigured, SourceFailed
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.companies_servers.profile_api import KEY, NEW, OLD, ProfileApi, address, profile
from tests.tasks.companies.sources.conftest import claimed, values_of
from tests.web.behaviours import busy, json_reply, page, redirect
from tests.web.server import Asked, LoopbackServer, Reply

Serve = Callable[..., ProfileApi]


@pytest.fixture
def serve(facts: object, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Lets the provider know this company: `serve(profile("Alpha"))`."""

    def serve(*profiles: dict[str, Any], **more: Any) -> ProfileApi:
        monkeypatch.setenv("DILIGENCE_PROFILE_API_URL", server.url)
        monkeypatch.setenv("DILIGENCE_PROFILE_API_KEY", KEY)
        monkeypatch.setattr(profile_api, "STATE", ProviderState(RateLimiter(RateLimit(at_once=10))))
        provider = ProfileApi(dict(zip(("alpha.example", "beta.example"), profiles, strict=False)), **more)
        server.pages = provider
        return provider

    return serve


def test_a_profile_is_read_whole_under_our_names(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha GmbH"))

    answer = claimed(open_source())

    values = values_of(answer)
    assert answer.warnings == []
    assert (values["name"], values["founded_year"], values["company_size"]) == ("Alpha GmbH", 2015, [10001, None])
    assert (values["social_internal_id"], values["company_size_on_social"]) == ("1441", 12345)
    assert values["social_url"] == address("alpha.example")
    assert values["hq"]["country"] == "DE"
    assert len(values["locations"]) == 2
    assert values["description"] == "Makes things.\n\nFor everyone."
    assert (values["extra.network_a_id"], values["extra.network_b_id"]) == ("alphafb", "alphatw")
    assert values["extra.funding_db_profile_url"].endswith("/organization/alpha")
    assert values["extra.funding_db_rank"] == 82
    assert values["acquisitions"]["acquired"][0]["funding_db_profile_url"].endswith("/organization/gamma")
    assert values["exit_data"][0]["social_profile_url"].endswith("/company/delta")
    assert values["funding_data"][0]["investor_list"] == [
        {"social_profile_url": None, "name": "Epsilon Capital", "type": "organization"}
    ]
    assert values["categories"] == ["manufacturing"]
    assert values["updates"][0]["total_likes"] == 73
    assert values["affiliated_companies"] == []
    assert {"tagline", "customer_list", "extra.stock_symbol"}.isdisjoint(values)
    assert {claim.as_of for claim in answer.claims} == {"2026-10-26T11:33:24Z"}
    assert server.paths() == [f"{NEW}/resolve", NEW]


def test_the_key_is_sent_and_never_told(serve: Serve, server: LoopbackServer, caplog: pytest.LogCaptureFixture) -> None:
    serve(profile("Alpha"))
    server.then(busy(429, "0"))

    with caplog.at_level(logging.DEBUG):
        answer = claimed(open_source())

    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    assert len(server.asked) == 3
    assert KEY not in repr(answer)
    assert KEY not in caplog.text
    assert all(KEY not in asked.target for asked in server.asked)


def test_the_key_is_not_sent_to_where_the_provider_redirects(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha"))
    with LoopbackServer(lambda _: json_reply({})) as elsewhere:
        server.then(redirect(elsewhere.at("localhost")))
        with pytest.raises(Exception, match="redirects elsewhere"):
            open_source().facts("alpha.example")
        assert elsewhere.asked == []


def test_the_older_paths_are_tried_once(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha"), profile("Beta"), path=OLD)

    assert values_of(claimed(open_source()))["name"] == "Alpha"
    assert values_of(claimed(open_source(), "beta.example"))["name"] == "Beta"
    assert server.paths() == [f"{NEW}/resolve", f"{OLD}/resolve", OLD, f"{OLD}/resolve", OLD]


@pytest.mark.parametrize("path", [NEW, OLD])
def test_an_unknown_company_is_none(serve: Serve, server: LoopbackServer, path: str) -> None:
    serve(profile("Alpha"), path=path)

    assert open_source().facts("unknown.example") is None
    assert open_source().facts("alpha.example") is not None
    asked = len(server.asked)
    assert open_source().facts("unknown.example") is None
    assert len(server.asked) == asked + 1


@pytest.mark.parametrize("guard", [page("<p>Welcome"), Reply(b"<p>Blocked", 403), Reply(b"", 401)])
def test_a_site_that_guards_the_older_path_does_not_speak_there(
    serve: Serve, server: LoopbackServer, guard: Reply
) -> None:
    serve()
    missing = json_reply({"code": 404}, 404)
    server.pages = lambda asked: missing if asked.path.startswith(NEW) else guard

    assert open_source().facts("alpha.example") is None
    assert open_source().facts("alpha.example") is None


def test_credits_that_are_spent_at_the_older_path_are_believed(serve: Serve) -> None:
    serve(profile("Alpha"), path=OLD).credits = 0

    with pytest.raises(SourceFailed, match="credits"):
        open_source().facts("alpha.example")


def test_without_a_key_the_setting_is_named(
    facts: object, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_PROFILE_API_URL", server.url)
    for key in (None, "", " "):
        monkeypatch.delenv("DILIGENCE_PROFILE_API_KEY", raising=False)
        if key is not None:
            monkeypatch.setenv("DILIGENCE_PROFILE_API_KEY", key)
        with pytest.raises(NotConfigured, match="DILIGENCE_PROFILE_API_KEY"):
            open_source().facts("alpha.example")
    assert server.asked == []


def test_a_key_that_is_not_taken_names_the_setting(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha"), key="another")

    with pytest.raises(NotConfigured, match="DILIGENCE_PROFILE_API_KEY") as refused:
        open_source().facts("alpha.example")

    assert KEY not in str(refused.value)
    assert len(server.asked) == 1


def test_when_the_credits_are_spent_the_provider_is_left_alone(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha")).credits = 0
    messages = set()
    for domain in ("alpha.example", "beta.example", "gamma.example"):
        with pytest.raises(SourceFailed, match="credits") as refused:
            open_source().facts(domain)
        messages.add(refused.value.message)

    assert len(server.asked) == 1
    assert len(messages) == 1


def test_a_key_with_credits_is_used_though_another_has_none(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, server: LoopbackServer
) -> None:
    serve(profile("Alpha")).credits = 0
    with pytest.raises(SourceFailed, match="credits"):
        open_source().facts("alpha.example")

    server.pages = ProfileApi({"alpha.example": profile("Alpha")}, key="another")
    monkeypatch.setenv("DILIGENCE_PROFILE_API_KEY", "another")
    assert values_of(claimed(open_source()))["name"] == "Alpha"


def test_after_an_hour_the_provider_is_asked_again(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = serve(profile("Alpha"))
    provider.credits = 0
    with pytest.raises(SourceFailed, match="credits"):
        open_source().facts("alpha.example")

    provider.credits = 9
    for account in profile_api.STATE.paused_until:
        profile_api.STATE.paused_until[account] -= 3601
    assert open_source().facts("alpha.example") is not None


def test_credits_that_end_between_the_calls_leave_what_was_paid_for(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha")).credits = 1

    answer = claimed(open_source())

    values = values_of(answer)
    assert values["name"] == "Alpha"
    assert "extra.network_a_id" not in values
    assert len(answer.warnings) == 1
    assert "only part of the profile" in answer.warnings[0]
    assert "credits" in answer.warnings[0]


def test_a_profile_that_is_gone_leaves_the_one_of_the_first_call(serve: Serve, server: LoopbackServer) -> None:
    provider = serve(profile("Alpha"))

    def answer(asked: Asked) -> Reply:
        return provider(asked) if asked.path.endswith("/resolve") else json_reply({"code": 404}, 404)

    server.pages = answer

    assert values_of(claimed(open_source()))["name"] == "Alpha"


def test_a_domain_without_a_profile_is_none(serve: Serve, server: LoopbackServer) -> None:
    serve()
    server.pages = lambda _: json_reply({"url": None, "profile": None, "last_updated": None})

    assert open_source().facts("alpha.example") is None


def test_values_of_a_wrong_type_are_left_out_where_they_stand(serve: Serve) -> None:
    odd = profile("Alpha", founded_year="2015", follower_count=7.5, specialities=["one", None, 3, "two"])
    odd |= {"customer_list": {"a": 1}, "company_size": [51, "200"], "new_key": {"linkedin": [1]}}
    odd["updates"] = [{"text": 5, "total_likes": 1}, "soon", {"text": "Well", "posted_on": "today"}]
    odd["extra"] = {**odd["extra"], "crunchbase_rank": "first", "ipo_status": "Private", "moon_id": 4}
    odd["funding_data"] = [{"funding_type": "Seed", "money_raised": "much", "investor_list": [None, {"name": "Eve"}]}]
    serve(odd)

    answer = claimed(open_source())

    values = values_of(answer)
    assert {"founded_year", "follower_count", "customer_list", "company_size", "extra.funding_db_rank"}.isdisjoint(
        values
    )
    assert values["extra.ipo_status"] == "Private"
    assert values["specialities"] == ["one", "two"]
    assert [update["text"] for update in values["updates"]] == [None, "Well"]
    assert values["funding_data"][0]["money_raised"] is None
    assert [investor["name"] for investor in values["funding_data"][0]["investor_list"]] == ["Eve"]
    assert len(answer.warnings) == 1
    assert "another kind" in answer.warnings[0]
    assert "founded_year" in answer.warnings[0]


@pytest.mark.parametrize("odd", [{"extra": 7}, {"extra": None}, {"hq": []}, {"updates": {"text": "x"}}, {"name": None}])
def test_one_odd_part_does_not_take_the_others(serve: Serve, odd: dict[str, Any]) -> None:
    serve(profile("Alpha") | odd)

    assert values_of(claimed(open_source()))["founded_year"] == 2015


def test_texts_are_plain_and_bounded(serve: Serve) -> None:
    serve(profile("Alpha\u0000\u202e", description="x" * 100_000, specialities=["a"] * 5_000, tagline="  "))

    values = values_of(claimed(open_source()))

    assert values["name"] == "Alpha"
    assert len(values["description"]) == 20_000
    assert len(values["specialities"]) == 1_000
    assert "tagline" not in values


def test_a_profile_of_another_website_is_told(serve: Serve) -> None:
    serve(profile("Alpha", website="https://www.beta.example/"), profile("Beta", website="nonsense"))

    alpha, beta = open_source().facts("alpha.example"), open_source().facts("beta.example")

    assert alpha is not None
    assert beta is not None
    assert alpha.warnings == [
        "The profile that profile_api has for alpha.example gives another website: www.beta.example."
    ]
    assert beta.warnings == []


@pytest.mark.parametrize("reply", [page("<p>Sorry"), json_reply([1]), json_reply("x"), Reply(b"{", 200), Reply(b"")])
def test_an_answer_that_is_no_profile_is_the_sources_failure(
    serve: Serve, server: LoopbackServer, reply: Reply
) -> None:
    serve()
    server.pages = lambda _: reply

    with pytest.raises(SourceFailed, match="The profile provider"):
        open_source().facts("alpha.example")


def test_companies_are_asked_for_side_by_side(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha"), profile("Beta"))

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(partial(claimed, open_source()), ["alpha.example", "beta.example"]))

    assert [values_of(answer)["name"] for answer in answers] == ["Alpha", "Beta"]


def test_what_is_no_registrable_domain_is_not_looked_up(serve: Serve, server: LoopbackServer) -> None:
    serve(profile("Alpha"))

    with pytest.raises(BadRequest):
        open_source().facts("www.alpha.example")

    assert server.asked == []
