"""YAML files that users write, read so that every mistake is named by file, line and field.

The values are those of JSON: text, numbers, true, false, null. YAML 1.1 would also take `no` for false
(and with it Norway, `NO`), `2024-01-31` for a date and `1:30` for 90; here they are text.

ruamel.yaml keeps lines too and would replace `UserFile._note`. It stops at the first key that stands twice, still makes
dates and numbers of its own types, and takes 0.30 s for a batch of 1,000 companies where this takes 0.17.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError
from pydantic_core import ErrorDetails
from yaml.reader import ReaderError

from tasks.errors import BadRequest

M = TypeVar("M", bound=BaseModel)


def _one_line(text: str) -> str:
    if _CONTROL_OR_BREAK.search(text):
        raise ValueError("must stand on one line")
    return text


Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), AfterValidator(_one_line)]
"""A text of one line, not empty, outer spaces off."""

_LARGEST = 1024 * 1024  # bytes; some ten thousand companies, 3 s of parsing
_MOST_PLACES = 200_000  # what aliases unfold to counts too: a file of 1 KB can stand for a billion values
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # YAML can write them: "\0"
_CONTROL_OR_BREAK = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_QUOTES = "Put text that contains one of : # & * ! ? | > [ ] { } , in quotes"

_PLAIN = {
    "missing": "it is missing",
    "string_type": "must be text; put it in quotes",
    "string_too_short": "must not be empty",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_parsing": "must be a whole number",
    "finite_number": "must be a number",
    "list_type": "must be a list",
    "model_type": "must be a mapping of fields",
    "dict_type": "must be a mapping of fields",
    "invalid_key": "the name of a field must be text",
    "extra_forbidden": "there is no such field",
}


class _Loader(yaml.SafeLoader):
    """PyYAML's parser in Python: the one in C ends the process where a file nests too deeply (6.0.3)."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in the class above; without its YAML 1.1 types


for _tag, _form, _first in (
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", "[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]{0,17})?(?:\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", "-+.0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]{0,17})\.?[eE][-+]?[0-9]{1,3}", "-+0123456789"),
    ("merge", "<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_form})$"), list(_first))


def yaml_value(written: str, *, as_text: bool = False) -> Any:
    """The value of a piece of YAML such as `5`, `DE` or `[DE, NO]`; with `as_text` everything is text, even numbers.

    Raises:
        ValueError: it is no YAML.
    """
    try:
        return yaml.load(written, Loader=yaml.BaseLoader if as_text else _Loader)  # noqa: S506 - both are safe
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{written[:100]!r} is no value") from error


def read_user_text(path: Path, kind: str) -> str:
    """The text of a file that a user wrote. `kind` is the users' name for it ("batch file").

    Raises:
        BadRequest: it is a folder, cannot be opened, is larger than 1 MB, or is no UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path.name}: the {kind} is not UTF-8 text. Save it as UTF-8.") from error
    except IsADirectoryError as error:
        raise BadRequest(f"{path.name} is a folder. Give the path of the {kind}.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or "no such file"
        raise BadRequest(f"{path.name}: the {kind} cannot be opened ({why}). Is the path right?") from error
    if len(content) > _LARGEST:
        raise BadRequest(f"{path.name}: the {kind} is larger than {_LARGEST // 1024**2} MB. Split it.")
    match = _CONTROL.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        raise BadRequest(f"{path.name}, line {line}: the {kind} holds a control character. Is it a text file?")
    return text


class Mistakes:
    """The mistakes in a file, collected so that all of them are reported at once."""

    def __init__(self, file: str) -> None:
        """`file` is the file's name for messages."""
        self._file = file
        self._noted: list[tuple[int, str, str]] = []

    def note(self, line: int, field: str, what: str) -> None:
        """Record what is wrong in a line (from 1) and field."""
        self._noted.append((line, field, what.rstrip(".")))

    def check(self) -> None:
        """Raise an error with all recorded mistakes, if there are any.

        Raises:
            BadRequest: there are mistakes; the message has a line for each: file, line, field, what is allowed.
        """
        if self._noted:
            messages = (f"{self._file}, line {line}, {field}: {what}" for line, field, what in sorted(self._noted))
            sentences = [message if message.endswith("?") else f"{message}." for message in messages]
            raise BadRequest("\n".join(sentences), {field: what for _line, field, what in self._noted})


class UserFile:
    """A YAML file: its content, the line of each place in it, and the mistakes found so far."""

    def __init__(self, path: Path, kind: str) -> None:
        """Read the file. `kind` is the users' name for it ("batch file").

        Raises:
            BadRequest: it cannot be opened, is no YAML, or a key stands twice in it.
        """
        self.path = path
        self.mistakes = Mistakes(path.name)
        self._lines: dict[tuple[str | int, ...], int] = {(): 1}
        text = read_user_text(path, kind)
        try:
            loader = _Loader(text)
            node = loader.get_single_node()
            if node is not None:
                self._note(node, ())
                self.mistakes.check()
            self.content: Any = {} if node is None else loader.construct_document(node)
        except yaml.YAMLError as error:
            raise BadRequest(_no_yaml(path.name, text, error)) from error
        except RecursionError as error:
            raise BadRequest(f"{path.name}: the {kind} nests too deeply.") from error
        except ValueError as error:  # !!int x
            raise BadRequest(
                f"{path.name}: a value does not match its tag (!!int, !!float). Leave tags out."
            ) from error

    def fit(self, model: type[M], content: Any, at: tuple[str | int, ...] = ()) -> M | None:
        """The `content` found at `at` as `model`; None if it does not fit, with the mistakes recorded."""
        try:
            return model.model_validate(content)
        except ValidationError as error:
            for mistake in error.errors(include_url=False):
                what = describe_error(mistake)
                if mistake["type"] == "extra_forbidden":
                    what += nearest(str(mistake["loc"][-1]), model.model_fields)
                place: tuple[str | int, ...] = mistake["loc"]
                if mistake["type"] == "invalid_key":  # a key such as 3 is noted as it is written
                    place = (*place[:-2], str(place[-2])) if place[-1] == "[key]" else (*place[:-1], str(place[-1]))
                self.mistake((*at, *(part for part in place if part != "[key]")), what)
        return None

    def mistake(self, at: Sequence[str | int], what: str) -> None:
        """Record what is wrong at a place, such as `("criteria", 2, "rule")`."""
        self.mistakes.note(self.line(at), ".".join(map(str, at)) or "the file", what)

    def line(self, at: Sequence[str | int]) -> int:
        """The line, from 1, at which a place in the file begins; for something missing, that of the place around it."""
        place = tuple(at)
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def _note(self, node: yaml.Node, at: tuple[str | int, ...]) -> None:
        self._lines.setdefault(at, node.start_mark.line + 1)
        if len(self._lines) > _MOST_PLACES:
            raise BadRequest(f"{self.path.name}: it holds more than {_MOST_PLACES} values. Split it.")
        if isinstance(node, yaml.ScalarNode) and _UNSTORABLE.search(node.value):
            self.mistake(at, "it holds a character that no text may hold")
        elif isinstance(node, yaml.MappingNode):
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


def describe_error(error: ErrorDetails) -> str:
    """An error of pydantic, in plain words."""
    limits = error.get("ctx", {})
    if error["type"] == "greater_than":
        return f"must be above {limits['gt']:g}"
    if error["type"] == "less_than_equal":
        return f"must be at most {limits['le']:g}"
    if error["type"] == "string_too_long":
        return f"must have at most {limits['max_length']} characters"
    message = error["msg"].removeprefix("Value error, ")
    return _PLAIN.get(error["type"], message.replace("Input should be", "must be").replace("valid ", ""))


def nearest(name: str, known: Iterable[str]) -> str:
    """The text after "there is no such field": the name that was probably meant, and all allowed names."""
    names = list(known)
    matches = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {matches[0]}?" if matches else ""
    return f"{hint} (allowed: {', '.join(names)})"


def _no_yaml(name: str, text: str, error: yaml.YAMLError) -> str:
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return f"{name}, line {line}: it holds a character that YAML does not allow."
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return f"{name}: this is not valid YAML: {error}."
    lines = text.splitlines()
    written = lines[mark.line] if mark.line < len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return f"{name}, line {mark.line + 1}: the line begins with a tab. Indent with spaces."
    return (
        f"{name}, line {mark.line + 1}: this is not valid YAML: {getattr(error, 'problem', None) or error}. {_QUOTES}."
    )
