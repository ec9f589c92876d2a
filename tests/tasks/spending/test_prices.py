"""Prices: found by the model's name, the user's own before those that come with the program."""

import tomllib
from pathlib import Path

import pytest

from tasks.errors import BadRequest
from tasks.spending.budget import cap_and_price
from tasks.spending.money import SHIPPED, Price, Usage, find_price, read_prices
from tests.cases import cases


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "our prices.toml"
    file.write_text('[models]\n"gpt*" = { input = 1, output = 2 }\n"*llama*" = { input = 0, output = 0 }\n')
    return file


def test_a_price_is_found_by_the_models_name_in_any_case() -> None:
    assert find_price("gpt-4o-mini") == find_price("GPT-4o-mini") == Price(0.15, 0.60)


def test_a_name_stands_for_its_dated_versions_and_for_nothing_else() -> None:
    assert find_price("gpt-4o-mini-2024-07-18") == Price(0.15, 0.60)
    assert find_price("claude-sonnet-4-5-20250929") == Price(3, 15)
    assert find_price("gpt-4o-mini-audio-preview") is None
    assert find_price("my-gpt-4o-mini") is None


def test_the_longest_entry_that_fits_counts(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text("[models]\n" + "".join(
        f'"{entry}" = {{ input = {price}, output = 0 }}\n'
        for price, entry in enumerate(["a*", "a-b*", "a-b-c", "*", "a-*-d"], 1)
    ))  # fmt: skip
    for model, price in {"a-x": 1, "a-b-x": 2, "a-b-c": 3, "z": 4, "a-x-d": 5}.items():
        assert find_price(model, file) == Price(price, 0), model


def test_the_users_own_price_goes_before_a_longer_entry_of_ours(own: Path) -> None:
    assert find_price("gpt-4o-mini", own) == Price(1, 2)
    assert find_price("o3", own) == find_price("o3") is not None


def test_a_model_of_ones_own_server_may_cost_nothing(own: Path) -> None:
    price = find_price("meta/llama-3.3-70b:q4", own)
    assert price == Price(0, 0)
    assert price.of(Usage(1, 10**6, 10**6)) == 0


def test_no_price_is_made_up() -> None:
    assert find_price("a-model") is None


def test_the_shipped_prices_say_their_date_and_sources_and_ask_more_for_what_is_written() -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert "as of 20" in text
    prices = read_prices(SHIPPED)
    assert len(prices) == len(tomllib.loads(text)["models"]) > 20
    for name, price in prices.items():
        assert 0 < price.input < price.output, name
        assert price.output <= 12 * price.input, name


@cases(
    ("written", "message"),
    [
        ('"m" = { input = 1 }', "line 3, models.m.output: it is missing"),
        ('"m" = { input = "1", output = 2 }', "line 3, models.m.input: must be a number"),
        ('"m" = { input = -1, output = 2 }', "line 3, models.m.input: must be 0 or above, in USD for a million"),
        ('"m" = { input = nan, output = 2 }', "line 3, models.m.input: must be a number"),
        ('"m" = { input = 1, outptu = 2 }', "line 3, models.m.outptu: there is no such field; did you mean output"),
        ('"m" = 3', "line 3, models.m: must be the two prices"),
        ("[model]", r"line 3, model: there is no such table; did you mean models"),
        ('"m" = {', r"this is not valid TOML: .*line 3.*Write one line a model"),
    ],
)
def test_a_mistake_names_file_line_and_field(tmp_path: Path, written: str, message: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(f"# ours\n[models]\n{written}\n")
    with pytest.raises(BadRequest, match=f"^prices.toml.*{message}"):
        find_price("m", file)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[models]\n"a" = { input = 1 }\n"b" = { output = 1 }\n')
    with pytest.raises(BadRequest) as caught:
        read_prices(file)
    assert set(caught.value.fields) == {"models.a.output", "models.b.input"}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"none\.toml: the prices file cannot be opened"):
        find_price("m", tmp_path / "none.toml")


def test_an_entry_of_many_stars_takes_no_time(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[models]\n"' + "*a" * 500 + '*b" = { input = 1, output = 1 }\n')
    assert find_price("a" * 5000, file) is None


def test_blanks_around_the_name_of_a_model_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_AI_MODEL", "gpt-4o-mini ")
    monkeypatch.setenv("DILIGENCE_AI_BUDGET", "1 USD")
    assert cap_and_price()[1] is not None
