"""Prints how the time of each function and pattern grows with its text: `python -m tests.linear_time [PACKAGE …]`.

A row has the name, the shape with the highest ratio, the characters and the seconds of the larger text, the ratio.
"""

import sys

from tests.linear_time.calls import PACKAGES
from tests.linear_time.measuring import Limits, measure
from tests.linear_time.subjects import CALLS_ALONE, of_calls, of_functions, of_patterns


def main() -> int:
    """Measure, print, and tell by the exit code whether all is linear."""
    failures = 0
    for package in sys.argv[1:] or (*PACKAGES, *CALLS_ALONE):
        for subject in of_functions(package) if package in PACKAGES else of_calls(package):
            worst = max(measure([subject], Limits()), key=lambda case: (case.fails, case.ratio))
            print(worst, "FAILS" if worst.fails else "", flush=True)
            failures += worst.fails
        subjects = [*of_patterns(package, 60)] if package in PACKAGES else []
        failed = [case for case in measure(subjects, Limits(0.004, 16_384)) if case.fails]
        for case in failed:
            print(case, "FAILS", flush=True)
        failures += len(failed)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
