"""`make golden`: what differs from the recorded results, by name.

python -m tests.golden [AREA ...] [--write]     the areas are the keys of `AREAS`; without any, all are measured

Ends with status 1 if anything differs. A difference is mended, or it is meant: then `--write` records the new results,
and a line in the commit says which names changed and why.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Final

from tests.golden import ledgers, report, texts, verdicts
from tests.golden.records import Measured, differences, record, recorded

AREAS: Final[dict[str, Callable[[], Measured]]] = {
    "texts": texts.measure,
    "ledgers": ledgers.measure,
    "verdicts": verdicts.measure,
    "report": report.measure,
}
_SETTINGS: Final = ("DILIGENCE_", "OPENAI_", "PREFECT_")
_HINT: Final = (
    "Mend what is not meant. Where a difference is meant, run `python -m tests.golden {areas} --write`, commit the "
    "records with the change, and say in the commit which names differ and why."
)


def main() -> int:
    """Measure the areas, print what differs. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    parser.add_argument("areas", nargs="*", choices=[[], *AREAS], help=f"some of {', '.join(AREAS)}")
    parser.add_argument("--write", action="store_true", help="record what is measured now")
    wanted = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(_SETTINGS)]:
        del os.environ[name]
    differing = []
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"DILIGENCE_HOME": home, "PREFECT_HOME": f"{home}/prefect", "DILIGENCE_FACT_SOURCES": "files"}
        os.environ |= {"DILIGENCE_OCR": "off", "PATH": ""}  # neither Tesseract nor LibreOffice
        for area in wanted.areas or AREAS:
            began = time.monotonic()
            measured = AREAS[area]()
            found = list(differences(recorded(area), measured))
            for line in found:
                _say(f"{area}: {line}")
            for part, why in measured.skipped.items():
                _say(f"{area}: {part}… is not measured: {why}")
            _say(f"{area}: {len(measured.rows):,} measured, {len(found)} differ, {time.monotonic() - began:.0f} s")
            if wanted.write:
                record(area, measured)
            elif found:
                differing.append(area)
    if differing:
        _say(_HINT.format(areas=" ".join(differing)))
    return int(bool(differing))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
