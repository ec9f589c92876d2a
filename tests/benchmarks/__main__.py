"""`make bench`: each figure beside its baseline, measured in the same run.

python -m tests.benchmarks [NAME ...]     the names are the keys of `BENCHES`
"""

import sys
import time
import traceback

from tests.benchmarks import (
    asked_rooms,
    boxes,
    budgets,
    carry_over,
    companies,
    demo,
    document_kinds,
    drive,
    encodings,
    evidence,
    extraction,
    figures,
    filing_questions,
    filings_agree,
    filled_forms,
    finance_rooms,
    glued_figures,
    growth,
    in_flight,
    links,
    meaning,
    memos,
    office,
    orders,
    pdf_speed,
    peers,
    plants,
    private_accounts,
    real_models,
    real_tables,
    report,
    retrieval,
    sentence_figures,
    service,
    service_memory,
    single_figures,
    tagged_filings,
    untied_sums,
    websites,
    word_order,
)

BENCHES = {
    "demo": demo.measure,
    "service": service.measure,
    "service_memory": service_memory.measure,
    "extraction": extraction.measure,
    "peers": peers.measure,
    "plants": plants.measure,
    "private_accounts": private_accounts.measure,
    "document_kinds": document_kinds.measure,
    "asked_rooms": asked_rooms.measure,
    "word_order": word_order.measure,
    "glued_figures": glued_figures.measure,
    "pdf_speed": pdf_speed.measure,
    "boxes": boxes.measure,
    "evidence": evidence.measure,
    "links": links.measure,
    "memos": memos.measure,
    "office": office.measure,
    "figures": figures.measure,
    "finance_rooms": finance_rooms.measure,
    "sentence_figures": sentence_figures.measure,
    "single_figures": single_figures.measure,
    "filing_questions": filing_questions.measure,
    "filings_agree": filings_agree.measure,
    "tagged_filings": tagged_filings.measure,
    "untied_sums": untied_sums.measure,
    "drive": drive.measure,
    "companies": companies.measure,
    "websites": websites.measure,
    "in_flight": in_flight.measure,
    "budgets": budgets.measure,
    "carry_over": carry_over.measure,
    "growth": growth.measure,
    "meaning": meaning.measure,
    "retrieval": retrieval.measure,
    "encodings": encodings.measure,
    "orders": orders.measure,
    "real_models": real_models.measure,
    "real_tables": real_tables.measure,
    "filled_forms": filled_forms.measure,
    "report": report.measure,
}


def main(wanted: list[str]) -> int:
    """Measure what is wanted, one after the other; gives how many could not be measured to their end."""
    unknown = [name for name in wanted if name not in BENCHES]
    if unknown:
        print(f"There is no {', '.join(unknown)}. There are {', '.join(BENCHES)}.", file=sys.stderr)
        return len(unknown)
    failed = 0
    print("| what | figure | target |\n|---|---|---|")
    for name in wanted or BENCHES:
        began = time.monotonic()
        try:
            for what, figure, target in BENCHES[name]():
                print(f"| {what} | {figure} | {target} |", flush=True)
        except Exception:  # noqa: BLE001 - the others are measured all the same
            failed += 1
            print(f"| {name} | **not measured to its end**, see stderr | – |", flush=True)
            traceback.print_exc()
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
