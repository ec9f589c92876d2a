"""Write what the wheel needs as a CycloneDX SBOM, from the lock: the same bytes for the same lock.

    python .ci/sbom.py dist/diligence.cdx.json

What only builds the wheel is in the lock too, and is left out. `cyclonedx-py requirements` reads no setting of pip's:
no address of an index but the public one can get into the file.
"""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def read_lock(path: Path) -> dict[str, list[str]]:
    """The entries of a lock by package, each with its marker and hashes; a package may have several, by marker."""
    entries: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=\S)", path.read_text().strip()):
        entries.setdefault(canonicalize_name(re.split(r"[=\[]", entry, maxsplit=1)[0]), []).append(entry)
    return entries


def needed_by(requirements: list[str]) -> set[str]:
    """The packages that these requirements lead to, by what is installed; those of another system lead no further."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = {"", *requirement.extras}
        if (key := f"{name}[{','.join(sorted(extras))}]") in found:
            continue
        found |= {key, name}
        try:
            further = [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:
            continue
        waiting += [
            one for one in further if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found


def main(target: Path) -> None:
    """Write the SBOM to `target`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    only_build = needed_by(project["dependency-groups"]["build"]) - needed_by(project["project"]["dependencies"])
    entries = read_lock(ROOT / "requirements.lock")
    needed = "\n".join(entry for name, of_name in entries.items() if name not in only_build for entry in of_name)
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", "-"]
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--output-file", str(target)]
    subprocess.run([*command, *options], input=needed, text=True, check=True)  # noqa: S603 - our own words


if __name__ == "__main__":
    main(Path(sys.argv[1]))
