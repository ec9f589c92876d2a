"""`make bench`: each figure beside its baseline, measured in the same run.

python -m tests.benchmarks [NAME ...]     names: demo, service, extraction, peers, tables, boxes,
evidence, links, office, drive, companies, retrieval, report
"""

import sys

from tests.benchmarks import (
    boxes,
    companies,
    demo,
    drive,
    evidence,
    extraction,
    links,
    office,
    peers,
    report,
    retrieval,
    service,
    tables,
)

BENCHES = {
    "demo": demo.measure,
    "service": service.measure,
    "extraction": extraction.measure,
    "peers": peers.measure,
    "tables": tables.measure,
    "boxes": boxes.measure,
    "evidence": evidence.measure,
    "links": links.measure,
    "office": office.measure,
    "drive": drive.measure,
    "companies": companies.measure,
    "retrieval": retrieval.measure,
    "report": report.measure,
}


def main() -> None:
    wanted = sys.argv[1:] or list(BENCHES)
    print("| what | figure | target |\n|---|---|---|")
    for name in wanted:
        for what, figure, target in BENCHES[name]():
            print(f"| {what} | {figure} | {target} |", flush=True)


if __name__ == "__main__":
    main()
