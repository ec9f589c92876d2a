"""Rules on facts: what each says, and which field each goes with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.companies.profile import fields
from tasks.errors import BadRequest
from tasks.scoring.rules import parse
from tests.cases import cases


@cases(
    ("field", "rule", "met", "unmet"),
    [
        ("founded_year", "<= 2018", [1994, 2018], [2019]),
        ("founded_year", "<2018", [2017], [2018]),
        ("founded_year", ">= 2018", [2018, 2020], [2017]),
        ("founded_year", "> 2018", [2019], [2018]),
        ("founded_year", "== 2018", [2018], [2017]),
        ("founded_year", "= 2018", [2018], [2017]),
        ("founded_year", "!= 2018", [2017], [2018]),
        ("founded_year", "in [2017, 2018]", [2017, 2018], [2019]),
        ("founded_year", "not  in [2017]", [2018], [2017]),
        ("company_size.0", ">= 50", [50, 1000], [49]),
        ("extra.total_funding_amount", ">= 1e6", [1_000_000], [999_999]),
        ("funding_data.0.money_raised", "> 0.5", [0.75, 1], [0.5]),
        ("extra.operating_status", "== Active", ["Active", "active", " ACTIVE "], ["Closed", "Inactive"]),
        ("extra.operating_status", "== 'Active'", ["Active"], ["'Active'"]),
        ("extra.operating_status", "!= closed", ["Active"], ["Closed"]),
        ("name", "== O'Neill: Sons & Co", ["O'Neill: Sons & Co"], ["ONeill"]),
        ("name", '== "Alpha"', ["Alpha"], ["Beta"]),
        ("hq.country", "in [DE, NO]", ["DE", "NO", "no"], ["NL", "false", "False"]),
        ("hq.country", "== NO", ["NO"], ["DE"]),
        ("hq.country", "not in [NO]", ["DE"], ["NO"]),
        ("hq.country", "IN [DE]", ["DE"], ["NO"]),
        ("hq.country", "in[DE]", ["DE"], ["NO"]),
        ("locations.3.city", "== Leeds", ["Leeds"], ["York"]),
        ("extra.stock_symbol", "in [700, 0941, 1e3]", ["700", "0941", "1e3"], ["941", "1000"]),
        ("extra.stock_symbol", "== 2024-01-31", ["2024-01-31"], ["2024"]),
        ("hq.is_hq", "== true", [True], [False]),
        ("hq.is_hq", "!= true", [False], [True]),
        ("hq.is_hq", "in [false]", [False], [True]),
        ("industry", "contains software", ["Enterprise Software", "software"], ["Hardware"]),
        ("industry", "contains 'soft  ware'", ["Soft ware"], ["Software"]),
        ("specialities", "contains SaaS", [["ERP", "saas for ports"], ["SaaS"]], [["ERP"], []]),
        ("last_updated", ">= 2025-01-01", ["2025-01-01T00:00:00Z", "2025-06-01T10:00:00Z"], ["2024-12-31T23:59:59Z"]),
        ("last_updated", "<= 2024-12-31", ["2024-12-31T23:59:59Z"], ["2025-01-01T00:00:00Z"]),
        ("last_updated", "== 2024-12-31", ["2024-12-31T08:00:00Z"], ["2024-12-30T08:00:00Z"]),
        ("last_updated", "> 2024-12-31T12:00:00Z", ["2024-12-31T12:00:01Z"], ["2024-12-31T12:00:00Z"]),
    ],
)
def test_a_rule_holds_for_what_it_says(field: str, rule: str, met: list[Any], unmet: list[Any]) -> None:
    parsed = parse(field, rule)
    assert [parsed.holds(fact) for fact in met] == [True] * len(met)
    assert [parsed.holds(fact) for fact in unmet] == [False] * len(unmet)


@cases(
    ("field", "rule", "message"),
    [
        ("founded_year", "", "is not a rule: a rule is one of"),
        ("founded_year", "2018", "is not a rule"),
        ("founded_year", "<=", "is not a rule"),
        ("founded_year", "=> 2018", "is not a rule"),
        ("founded_year", "<= soon", "founded_year is a number: 'soon' is not"),
        ("founded_year", ">= 1,000", "is a number: '1,000' is not"),
        ("founded_year", "== true", "is a number: True is not"),
        ("founded_year", "<= !!float .nan", "is a number: nan is not"),
        ("founded_year", "in [!!float .inf]", "is a number: inf is not"),
        ("founded_year", "== [2018]", "is a number"),
        ("founded_year", "in [2018, x]", "is a number: 'x' is not"),
        ("founded_year", "== [", "is no value"),
        ("founded_year", "contains 20", "is a number: `contains` works with text"),
        ("hq.country", "> DE", "hq.country is text: `>` works with numbers and times only"),
        ("hq.country", "in DE", "`in` needs a list in square brackets"),
        ("hq.country", "in []", "`in` needs a list in square brackets"),
        ("hq.country", "not in DE", "`not in` needs a list"),
        ("hq.country", "in [[DE]]", "hq.country is text"),
        ("hq.country", "in [DE", "is no value"),
        ("hq.is_hq", "== yes", "hq.is_hq is true or false: 'yes' is neither"),
        ("hq.is_hq", "== 1", "hq.is_hq is true or false: 1 is neither"),
        ("hq.is_hq", "> false", "hq.is_hq is a boolean: `>` works with numbers"),
        ("hq", "== DE", "hq is a group: put the rule on one of its parts, such as hq.country"),
        ("company_size", ">= 50", "company_size is a list: put the rule on one of its parts, such as company_size.0"),
        ("company_size", "contains 50", "`contains` works with text and lists of text only"),
        ("specialities", "== SaaS", "such as specialities.0 or use `contains`"),
        ("updates", "contains x", "updates is a list: `contains` works with text and lists of text only"),
        ("extra.founding_date", "<= 2018-01-01", "one of its parts, such as extra.founding_date.day"),
        ("last_updated", ">= yesterday", "last_updated is a time: 'yesterday' is not"),
        ("last_updated", ">= 2024-13-01", "last_updated is a time"),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_go_with_its_field_says_what_does(field: str, rule: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        parse(field, rule)
    assert message in str(caught.value)


@pytest.mark.parametrize(("field", "meant"), [("foundet_year", "founded_year"), ("hq.contry", "hq.country")])
def test_for_an_unknown_field_the_nearest_is_suggested(field: str, meant: str) -> None:
    with pytest.raises(BadRequest, match=f"no field '{field}'. Did you mean .*{meant}"):
        parse(field, "== 1")


@given(year=st.integers(-10_000, 10_000), limit=st.integers(-10_000, 10_000))
def test_numbers_are_compared_as_numbers(year: int, limit: int) -> None:
    results = [parse("founded_year", f"{sign} {limit}").holds(year) for sign in ("<", "<=", "==", "!=", ">=", ">")]
    assert results == [year < limit, year <= limit, year == limit, year != limit, year >= limit, year > limit]


@given(text=st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_a_text_equals_itself_and_no_other(text: str) -> None:
    name = text.strip() or "x"
    rule = parse("name", f'== "{name}"')
    assert rule.holds(name)
    assert not rule.holds(name + "x")


@given(field=st.sampled_from(sorted(fields())), rule=st.text("<>=! inotcas[],DE2018'\"-.{}&*", max_size=20))
def test_any_rule_is_read_or_refused_with_a_sentence(field: str, rule: str) -> None:
    try:
        sign_or_message = parse(field, rule).sign
    except ValueError as error:
        sign_or_message = str(error)
    assert sign_or_message
