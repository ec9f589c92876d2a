"""Items of request lists and the documents that answer them."""

from tasks.documents.kinds.document import document_kind
from tasks.documents.kinds.room import IndexedDocument, RoomKinds
from tasks.documents.kinds.signs import read_signs
from tasks.requests.match import RequestOutcome, match_requests
from tasks.requests.request_list import Request
from tests.benchmarks.request_rooms import build, evaluate
from tests.cases import cases


@cases("seed", [0, 2, 4, 6, 8])
def test_rooms_come_out_right(seed: int) -> None:
    right, given, expected, _ = evaluate(build(seed))
    assert 2 * right / (given + expected) >= 0.95


def outcomes(items: list[str], documents: dict[str, str]) -> list[RequestOutcome]:
    rows = {name: IndexedDocument(name, name.rsplit("/", 1)[-1], name.rpartition("/")[0]) for name in documents}
    signs = {name: read_signs(text, []) for name, text in documents.items()}
    kinds = {name: document_kind(row.name, row.path, signs[name]) for name, row in rows.items()}
    requests = [Request(number=str(number), item=item) for number, item in enumerate(items, 1)]
    return match_requests(requests, RoomKinds(rows, kinds, signs), documents)


LEASE = "LEASE AGREEMENT\nThe landlord lets the premises in {} to the tenant. Rent.\nsigned by: both"


@cases(
    ("item", "documents", "status", "why"),
    [
        (
            "Audited accounts 2022-2024",
            {"Audited accounts 2022-2024.pdf": "AUDITED FINANCIAL STATEMENTS"},
            "received",
            None,
        ),
        (
            "Lease of the office",
            {"Lease DRAFT.docx": "DRAFT\nLEASE AGREEMENT\nThe landlord lets"},
            "partly",
            "only a draft",
        ),
        ("Board minutes 2023 and 2024", {"Board minutes 2024.pdf": "MINUTES OF THE BOARD"}, "partly", "without 2023"),
        ("Board minutes 2023", {"Board minutes 2024.pdf": "MINUTES OF THE BOARD"}, "missing", None),
        ("Cap table", {"Cap table to follow.txt": "To follow"}, "missing", None),
        *(
            (item, {"customer-pipeline.md": "Customer pipeline. Stages"}, "missing", None)
            for item in ("Ten largest customer contracts", "Customer contracts")
        ),
        ("Monthly management accounts", {"parent-accounts-2024.pdf": ""}, "missing", None),
        (
            "Management accounts",
            {
                "PASSWORD MANAGEMENT POLICY.docx": "PASSWORD MANAGEMENT POLICY\nOVERVIEW\n"
                "Passwords are the first defence of user accounts, and a weak one may lead to a breach of the network."
            },
            "missing",
            None,
        ),
        (
            "Shareholder loan agreements",
            {
                "scan 7.pdf": "EXECUTION VERSION\nShareholder loan agreement between Acme Holdings International "
                "Limited as lender and Acme Leeds Limited as borrower\n1. The loan"
            },
            "received",
            None,
        ),
        (
            "Open source report",
            {
                "Prometheus.docx": "PROMETHEUS\n"
                "Prometheus is an open-source toolkit for monitoring that was first built by engineers at SoundCloud."
            },
            "missing",
            None,
        ),
        *(
            (item, {name: "x", "menu.txt": "Soup"}, "partly", "only a word in common")
            for item, name in (
                ("Umweltgutachten Standort Ulm", "Gutachten Ulm.pdf"),
                ("Details of all cyber incidents", "Cyber events.docx"),
                ("Sanctions screening results", "Sanctions check.docx"),
                ("Key customers overview", "Customers top 10.xlsx"),
            )
        ),
        ("Details of all cyber incidents 2023", {"Cyber events 2021.docx": "x"}, "missing", None),
        *(
            (item, {name: "x", "menu.txt": "Soup"}, "missing", None)
            for item, name in (
                ("Data protection policy", "12. Subcontract FireProtection ApexBuilders.docx"),
                ("Transfer pricing documentation", "business-model-pricing-strategy.png"),
                ("Register of processing (record of processing activities)", "Incidence-Response-Records.docx"),
            )
        ),
        (
            "Audited financial statements",
            {
                "Financial statements, template.docx": "FINANCIAL STATEMENTS\nbalance sheet",
                "Audited financial statements DRAFT.docx": "AUDITED FINANCIAL STATEMENTS\nDRAFT",
            },
            "partly",
            "only a draft",
        ),
        ("Business plan", {"Business plan extract.pdf": "BUSINESS PLAN"}, "partly", "only a part"),
        (
            "Loan agreement",
            {"Loan part 1 of 2.pdf": "LOAN AGREEMENT\nbetween", "Loan part 2 of 2.pdf": "LOAN AGREEMENT\ncontinued"},
            "received",
            None,
        ),
    ],
)
def test_status(item: str, documents: dict[str, str], status: str, why: str | None) -> None:
    first = outcomes([item], documents)[0]
    assert (first.status.value, first.why) == (status, why)


def test_items_of_one_kind_are_told_apart_by_their_names() -> None:
    documents = {"a/scan1.pdf": LEASE.format("Graz"), "a/scan2.pdf": LEASE.format("Leeds"), "menu.txt": "Soup"}
    found = outcomes(["Lease for Leeds", "Lease for Bergen", "Lease for Graz"], documents)
    assert [[row.name for row in one.documents] for one in found] == [["scan2.pdf"], [], ["scan1.pdf"], ["menu.txt"]]
    assert found[-1].request is None
    assert found[-1].status.value == "unexpected"


def test_the_rooms_own_numbers_count_only_where_they_go_by_the_list() -> None:
    items = ["Articles of association", "Cap table", "Management presentation slides"]
    texts = ("ARTICLES OF ASSOCIATION\nshare capital", "CAP TABLE\nHolder\tShares", "Welcome")
    by_list = {f"{number}. file {number}.pdf": text for number, text in enumerate(texts, 1)}
    assert [one.status.value for one in outcomes(items, by_list)] == ["received"] * 3
    by_another = {f"{4 - number}. file.pdf": text for number, text in enumerate(texts, 1)}
    assert [one.status.value for one in outcomes(items, by_another)][:3] == ["received", "received", "missing"]
