"""YAML files that users write, read so that every mistake is named by file, line and field."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from tasks.errors import BadRequest

M = TypeVar("M", bound=BaseModel)

_PLAIN = {
    "extra_forbidden": "there is no such field",
    "missing": "it is missing",
    "string_type": "must be text; put it in quotes",
    "list_type": "must be a list",
    "model_type": "must be a mapping of fields",
    "dict_type": "must be a mapping of fields",
}


class UserFile:
    """A YAML file: its content, and the line of each place in it. Mistakes are collected, then raised together."""

    def __init__(self, path: Path, kind: str) -> None:
        """Read the file. `kind` is what users call it ("batch file").

        Raises:
            BadRequest: it cannot be opened, is no YAML, or a key stands twice in it.
        """
        self.path = path
        self._lines: dict[tuple[str | int, ...], int] = {(): 1}
        self._mistakes: list[tuple[int, str, str]] = []
        try:
            text = path.read_text(encoding="utf-8-sig")
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            self.content: Any = yaml.safe_load(text)
        except UnicodeDecodeError as error:
            raise BadRequest(f"{path.name}: the {kind} must be UTF-8 text.") from error
        except OSError as error:
            raise BadRequest(f"{path}: the {kind} cannot be opened ({error.strerror}). Is the path right?") from error
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f", line {mark.line + 1}" if mark else ""
            problem = getattr(error, "problem", None) or "a character that is not allowed"
            raise BadRequest(f"{path.name}{line}: this is no YAML: {problem}.") from error
        if node is not None:
            self._note(node, ())
        self.check()

    def fit(self, model: type[M], content: Any, at: tuple[str | int, ...] = ()) -> M | None:
        """`content`, which stands at `at`, as `model`; None when it does not fit, the mistakes noted."""
        try:
            return model.model_validate(content)
        except ValidationError as error:
            for each in error.errors(include_url=False):
                what = _PLAIN.get(each["type"], each["msg"].removeprefix("Value error, "))
                if each["type"] == "extra_forbidden":
                    what += _nearest(str(each["loc"][-1]), model)
                self.mistake((*at, *each["loc"]), what)
        return None

    def mistake(self, at: Sequence[str | int], what: str) -> None:
        """Note what is wrong at a place."""
        place = tuple(at)
        while place not in self._lines:
            place = place[:-1]
        self._mistakes.append((self._lines[place], ".".join(map(str, at)) or "the file", what.rstrip(".")))

    def check(self) -> None:
        """Raise what was noted.

        Raises:
            BadRequest: there are mistakes; the message has a line for each: file, line, field, what is allowed.
        """
        if self._mistakes:
            told = [f"{self.path.name}, line {line}, {field}: {what}." for line, field, what in sorted(self._mistakes)]
            fields = {field: what for _line, field, what in self._mistakes}
            raise BadRequest("\n".join(told), fields)

    def _note(self, node: yaml.Node, at: tuple[str | int, ...]) -> None:
        self._lines.setdefault(at, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                below = (*at, str(key.value))
                twice = below in self._lines
                self._lines[below] = key.start_mark.line + 1
                if twice:
                    self.mistake(below, "it stands twice")
                self._note(value, below)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self._note(value, (*at, index))


def _nearest(name: str, model: type[BaseModel]) -> str:
    near = difflib.get_close_matches(name, model.model_fields, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{hint} (allowed: {', '.join(model.model_fields)})"
