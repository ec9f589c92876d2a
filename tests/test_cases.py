"""Of many cases in one test all run, and each that fails is named."""

from pathlib import Path

import pytest

from tests.cases import cases


def test_every_case_that_fails_is_named_however_it_fails() -> None:
    ran = []

    @cases("number", [1, 2, 3, 4])
    def check(number: int) -> None:
        ran.append(number)
        if number == 1:
            pytest.skip("this one cannot be had here")
        if number == 2:
            with pytest.raises(ValueError, match="never"):
                pass
        assert number != 3

    with pytest.raises(BaseExceptionGroup, match="2 of 4") as failed:
        check()
    assert [each.__notes__ for each in failed.value.exceptions] == [
        ["in the case {'number': 2}"],
        ["in the case {'number': 3}"],
    ]
    assert ran == [1, 2, 3, 4]


@cases("name", ["first.txt", "second.txt"])
@cases("words", ["one", "two"])
def test_cases_share_the_fixtures_of_their_test(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_text(words)
    assert (name, words) != ("second.txt", "one") or (tmp_path / "first.txt").read_text() == "two"


def test_a_mark_that_would_be_lost_is_refused() -> None:
    @pytest.mark.slow
    def check(number: int) -> None:
        assert number

    with pytest.raises(AssertionError, match="marks"):
        cases("number", [1])(check)
