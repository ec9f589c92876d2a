"""The parameters of a call, read as strictly as Google reads them."""

from collections.abc import Mapping

from tests.google.refusals import invalid_parameter


class Parameters:
    """A call's query string; the last of several equal names counts."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def text(self, name: str) -> str | None:
        return self._given.get(name)

    def flag(self, name: str, *older: str, default: bool = False) -> bool:
        """`true` or `false`; `older` are the names it had with Team Drives."""
        for one in (name, *older):
            value = self._given.get(one)
            if value is not None:
                if value.lower() not in {"true", "false"}:
                    raise invalid_parameter(one, f"Invalid boolean value: '{value}'.")
                return value.lower() == "true"
        return default

    def page_size(self, default: int = 100, most: int = 1000) -> int:
        """At least 1; more than the most is taken as the most (files.list reference)."""
        value = self._given.get("pageSize")
        if value is None:
            return default
        if not value.lstrip("-").isdigit() or int(value) < 1:
            message = f"Invalid value '{value}'. Values must be within the range: [1, {most}]"
            raise invalid_parameter("pageSize", message)
        return min(int(value), most)
