"""Check the licences of all packages of a lock by their metadata: `make check` fails where one is not allowed.

    python .ci/licences.py requirements.lock requirements-dev.lock

Neither AGPL nor GPL may run in our process. Programs with such licences are called as processes of their own, which
users install themselves: LibreOffice (MPL-2.0, LGPL), Tesseract (Apache-2.0), both without any part of theirs here.
Where a package may be used by one of several licences ("OR"), one that is allowed is enough.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

from license_expression import ExpressionError, Licensing, get_spdx_licensing
from packaging.requirements import Requirement
from sbom import read_lock

ALLOWED = frozenset(
    "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 CNRI-Python ISC MIT MIT-0 MIT-CMU MPL-1.1 MPL-2.0 PSF-2.0 "  # noqa: SIM905
    "W3C Zlib".split()
)
"""MPL's copyleft ends at its own files, which we use as they are."""
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "CC0-1.0",
    "Python Software Foundation License": "PSF-2.0",
    "W3C License": "W3C",
}
EXPLAINED = {
    "axe-playwright-python": "MIT by its repository, its axe-core MPL-2.0; in tests alone",
    "protobuf": "BSD-3-Clause, which its metadata write in another way",
    "psycopg": "LGPL-3.0: imported as it comes, and can be exchanged for another release; not linked, not changed",
    "psycopg-binary": "LGPL-3.0: psycopg's compiled half, exchanged with it; its libpq has the PostgreSQL License",
    "pyclipper": "MIT; the Clipper library in it has the Boost Software License",
    "pypdfium2": "BSD-3-Clause, Apache-2.0; its PDFium: BSD, Apache-2.0, MIT, FTL, libtiff, zlib",
    "text-unidecode": "Artistic License or GPL, as one likes: the Artistic License",
    "uritemplate": "BSD-3-Clause or Apache-2.0, which its metadata write in another way",
    "rich-click": "MIT, which its metadata write in another way",
    "inflate64": "LGPL-2.1: as py7zr",
    "multivolumefile": "LGPL-2.1: as py7zr",
    "py7zr": "LGPL-2.1: of the extra `archives` alone, which the wheel does not need; runs in a process of its own",
    "pybcj": "LGPL-2.1: as py7zr",
    "pyppmd": "LGPL-2.1: as py7zr",
}
"""Packages whose metadata name no allowed licence, and why they may be used. An expression of GPL or AGPL alone stays
forbidden. PyStemmer needs no line: MIT and BSD."""


def is_allowed(expression: str, licensing: Licensing) -> bool:
    """Whether a licence expression of SPDX leaves a way to use what it is about."""
    parsed = licensing.parse(expression, validate=True)
    alternatives = licensing.dnf(parsed)
    ways = alternatives.args if isinstance(alternatives, licensing.OR) else [alternatives]
    return any({str(symbol) for symbol in way.symbols} <= ALLOWED for way in ways)


def expressions(package: PackageMetadata) -> Iterator[str]:
    """What a package's metadata say: PEP 639's expression, else the old field, else the classifiers."""
    if package["License-Expression"]:
        yield package["License-Expression"]
        return
    names = [name.rpartition(" :: ")[2] for name in package.get_all("Classifier", []) if name.startswith("License ::")]
    names = [name for name in names if name != "DFSG approved"]
    if names:
        yield " AND ".join(CLASSIFIERS.get(name, "LicenseRef-other") for name in names)
    elif package["License"]:
        yield package["License"].strip()


def main(locks: list[Path]) -> int:
    """Print what is not allowed; gives how many these are."""
    licensing = get_spdx_licensing()
    wrong: dict[str, str] = {}
    used: set[str] = set()
    for lock in locks:
        for name, entries in read_lock(lock).items():
            markers = [Requirement(entry.partition("\\")[0].strip()).marker for entry in entries]
            if all(marker is not None and not marker.evaluate() for marker in markers):
                continue  # of another system or Python
            try:
                package = metadata(name)
            except PackageNotFoundError:
                wrong[name] = "is not installed"
                continue
            said = next(expressions(package), "")
            try:
                allowed = is_allowed(said, licensing) if said else False
            except ExpressionError:
                allowed = False
            strong = "GPL" in said.replace("LGPL", "") and " OR " not in said
            if not allowed and (name not in EXPLAINED or strong):
                wrong[name] = said or "says nothing"
            used |= {name} if not allowed else set()
    wrong |= dict.fromkeys(EXPLAINED.keys() - used, "is explained, and needs no explanation")
    for name, said in sorted(wrong.items()):
        print(f"{name}: {said}", file=sys.stderr)  # noqa: T201
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main([Path(name) for name in sys.argv[1:]]), 1))
