"""Profiles, dated, with the claims they were merged from."""

from datetime import timedelta

from storage import database, scores
from storage.scores import SourceAnswer, StoredClaim, StoredProfile
from tests.storage import rows


def store(domain: str, hours: int = 0, claims: tuple[StoredClaim, ...] = (), **profile: object) -> int:
    row = StoredProfile(
        domain=domain, retrieved_at=rows.MORNING + timedelta(hours=hours), profile=profile, sources=["files"]
    )
    with database.writing() as session:
        return scores.save_profile(session, row, claims)


def test_the_newest_profile_of_a_domain(database_url: str) -> None:
    store("alpha.example", hours=2, name="newest")
    store("alpha.example", hours=1, name="older")
    store("beta.example", hours=3, name="another")
    with database.reading() as session:
        found = scores.latest_profile(session, "alpha.example")
        assert found is not None
        assert (found.profile, found.sources) == ({"name": "newest"}, ["files"])
        assert scores.latest_profile(session, "gamma.example") is None


def test_of_two_profiles_of_one_moment_the_later_counts(database_url: str) -> None:
    store("alpha.example", name="first")
    second = store("alpha.example", name="second")
    with database.reading() as session:
        found = scores.latest_profile(session, "alpha.example")
        assert found is not None
        assert found.id == second
        assert scores.get_profile(session, second).profile == {"name": "second"}


def test_which_answers_there_are_is_told_without_reading_them(database_url: str) -> None:
    def answer(source: str, claims: list[dict[str, object]] | None) -> None:
        row = SourceAnswer(
            source=source, origin="o", domain="alpha.example", retrieved_at=rows.MORNING, claims=claims, warnings=[]
        )
        with database.writing() as session:
            scores.save_answer(session, row)

    answer("knows", [{"field": "name"}])
    answer("knows_not", None)
    answer("claims_nothing", [])
    with database.reading() as session:
        found = {answer.source: answer for answer in scores.answers_on(session, "alpha.example")}
        assert scores.answers_on(session, "beta.example") == []
        kept = scores.get_answer(session, "knows", "o", "alpha.example")
        assert scores.get_answer(session, "knows", "o", "beta.example") is None
    assert {name: answer.unknown for name, answer in found.items()} == {
        "knows": False,
        "knows_not": True,
        "claims_nothing": False,
    }
    assert {answer.retrieved_at for answer in found.values()} == {rows.MORNING}
    assert kept is not None
    assert kept.claims == [{"field": "name"}]


def test_claims_come_back_in_the_order_given_with_values_of_any_kind(database_url: str) -> None:
    values = ["text", 2015, 2.5, True, None, [1, 50], {"city": "Bergen"}]
    claims = tuple(
        StoredClaim(
            profile_id=0, ordinal=0, field=f"f{9 - number}", value=value, source="files", retrieved_at=rows.MORNING
        )
        for number, value in enumerate(values)
    )
    store("beta.example", claims=(StoredClaim(**claims[0].model_dump()),))
    profile_id = store("alpha.example", claims=claims)
    with database.reading() as session:
        found = scores.profile_claims(session, profile_id)
    assert [claim.value for claim in found] == values
    assert [claim.field for claim in found] == ["f9", "f8", "f7", "f6", "f5", "f4", "f3"]
