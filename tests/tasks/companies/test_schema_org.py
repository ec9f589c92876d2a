"""Telephone numbers, as they are called from abroad."""

from typing import Any

from tasks.companies.schema_org import international
from tests.cases import cases


@cases(
    ("phone", "country", "number"),
    [
        ("4089961010", "US", "+1 408-996-1010"),
        ("1-408-996-1010", "CA", "+1 408-996-1010"),
        ("011-31-20-546-5000", "US", "+31205465000"),
        ("+49 89 636 33443", "DE", "+49 89 636 33443"),
        ("089 636 33443", "DE", "089 636 33443"),
        ("n/a", "US", None),
        ("", "US", None),
        (4089961010, "US", None),
    ],
)
def test_telephone_numbers_have_their_prefix_where_it_is_known(phone: Any, country: str, number: str | None) -> None:
    assert international(phone, country) == number
