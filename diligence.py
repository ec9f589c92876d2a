"""The command `diligence`, up to where the packages that Python finds are known to be the program's own.

The wheel installs five packages with plain names, and another distribution, or a folder that PYTHONPATH names, may have
one of the same name. Then this says whose it is and how to mend it, and runs nothing of it. In the current folder no
package is looked for.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

_ROOT = Path(__file__).parent
_OPENINGS = {
    "deployments": "How the program is started: ",
    "api": "The five operations over HTTP: ",
    "flows": "The Prefect flows, ",
    "tasks": "What is done: ",
    "storage": "Persistence: ",
}
"""The packages, each with how its docstring begins: what another distribution has written there begins otherwise."""
_MEND = (
    "Install diligence in an environment of its own, with `pipx install diligence` or `uv tool install diligence`. "
    "Or {}, then repair it with `pip install --force-reinstall --no-deps diligence`."
)


def main() -> None:
    """Run the command line, or say which package is not the program's own.

    Raises:
        SystemExit: with the status 1 where one is not.
    """
    _check(next(filter(_is_overwritten, _OPENINGS), None))
    place = _ROOT / "deployments" / "__init__.py"
    spec = spec_from_file_location("deployments", place, submodule_search_locations=[str(place.parent)])
    assert spec is not None
    assert spec.loader is not None
    sys.modules["deployments"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["deployments"])  # which takes the current folder out of where Python looks
    _check(next((name for name in _OPENINGS if name != "deployments" and _find(name) != _ROOT / name), None))
    try:
        from deployments.cli import main as run  # noqa: PLC0415 - it may be only now that it is ours

        run()
    except (ImportError, AttributeError):
        _check(next(_find_changed(), None))
        raise


def _is_overwritten(name: str) -> bool:
    file = _ROOT / name / "__init__.py"
    return not file.is_file() or not file.read_text("utf-8", "replace").startswith(f'"""{_OPENINGS[name]}')


def _find(name: str) -> Path | None:
    """The folder of the package that Python finds under that name; nothing of it is run."""
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _find_changed() -> Iterator[str]:
    """The packages with a module that is not as the wheel has it."""
    from importlib.metadata import PackageNotFoundError, files  # noqa: PLC0415 - 20 ms, where something failed
    from pathlib import PurePosixPath  # noqa: PLC0415

    try:
        listed = files("diligence") or ()
    except PackageNotFoundError:
        return
    for file in listed:
        package = PurePosixPath(file).parts[0]
        if package in _OPENINGS and file.suffix == ".py" and file.size != Path(str(file.locate())).stat().st_size:
            yield package


def _check(name: str | None) -> None:
    """End with a sentence where there is the name of a package that is not ours."""
    if name is None:
        return
    from importlib.metadata import distributions  # noqa: PLC0415 - 20 ms, where something is wrong

    owners = sorted(
        f"{other.metadata['Name']} {other.version}"
        for other in distributions()
        if other.metadata["Name"] != "diligence"
        and any(file.parts[0] in {name, f"{name}.py"} for file in other.files or ())
    )
    place = _find(name) or _ROOT / name
    if owners:
        whose, mend = f"{' and '.join(owners)} installs one too ({place})", f"uninstall {owners[0].split()[0]}"
    elif place != _ROOT / name:
        whose, mend = f"{place} stands in front of it", "take that folder out of PYTHONPATH"
    else:
        whose, mend = f"{place} was changed or removed", "leave that folder to diligence"
    raise SystemExit(
        f"diligence cannot start: Python does not find its own package `{name}`. {whose}. {_MEND.format(mend)}"
    )


if __name__ == "__main__":
    main()
