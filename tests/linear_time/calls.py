"""Which public functions take a text from elsewhere, and how each is called."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, Final

PACKAGES: Final = (
    "tasks.text",
    "tasks.statements",
    "tasks.memo",
    "tasks.scoring",
    "tasks.ranking",
    "tasks.ai",
    "tasks.companies",
    "tasks.evidence",
    "tasks.reports",
    "tasks.documents.extract",
    "tasks.documents.drive",
)
_TEXTS: Final = (str, "str", str | None)


def functions(package: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of a package that take a text, with their full names."""
    for module in _modules(package):
        for name, function in vars(module).items():
            if name.startswith("_") or not callable(function) or inspect.isclass(function):
                continue
            if getattr(function, "__module__", None) == module.__name__ and any(
                each.annotation in _TEXTS for each in inspect.signature(function).parameters.values()
            ):
                yield f"{module.__name__}.{name}", function


def _modules(name: str) -> Iterator[Any]:
    module = importlib.import_module(name)
    yield module
    for each in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield from _modules(f"{name}.{each.name}")


def texts_alone(function: Callable[..., Any]) -> int | None:
    """How many texts it must be given, and nothing else; None where it must be given something else."""
    needed = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    positional = [each for each in needed if each.kind is not each.VAR_KEYWORD]
    return len(positional) if all(each.annotation in _TEXTS and each.kind is not each.KEYWORD_ONLY for each in positional) else None
