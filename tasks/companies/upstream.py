"""The commercial provider's company profile as ours: its names for ours, and what does not fit left out.

Its profile has the shape of ours, with the names of networks and databases in its keys and a few keys more.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from tasks.companies.claiming import tidy
from tasks.companies.profile import CompanyProfile

_NAMES: Final = {"linkedin": "social", "crunchbase": "funding_db", "facebook": "network_a", "twitter": "network_b"}
"""What stands in its keys, and what stands in ours."""
_ROUNDS: Final = 3


def our_profile(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The provider's profile with our keys and types, and the paths of the values that were left out.

    A key that we do not have is passed over in silence. A value of a wrong type is left out where it stands: one
    bad post does not take the others with it.
    """
    values = _renamed(tidy(dict(given)))
    values.pop("last_updated", None)  # the date of the whole, and no value of its own
    wrong: list[str] = []
    for _ in range(_ROUNDS):
        try:
            CompanyProfile.model_validate(values)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False, include_input=False)
        else:
            return values, wrong
        # The two types of a number are steps of the validator, not of the profile.
        kinds = {tuple(step for step in each["loc"] if step not in {"int", "float"}): each["type"] for each in errors}
        wrong += [_path(location) for location, kind in kinds.items() if kind != "extra_forbidden"]
        for location in reversed(kinds):  # from the back: what is taken out of a list moves those behind it
            _drop(values, location)
    return {}, [*wrong, "the whole profile"]


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {_our_name(key): _renamed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each) for each in value]
    return value


def _our_name(key: str) -> str:
    return "_".join(_NAMES.get(part, part) for part in key.split("_"))


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(step for step in location if isinstance(step, str))


def _drop(values: Any, location: tuple[int | str, ...]) -> None:
    """Take out what stands there, unless something around it went before."""
    try:
        for step in location[:-1]:
            values = values[step]
        del values[location[-1]]
    except (KeyError, IndexError, TypeError):
        return
