"""Fact rules on stored profiles, and checks for documents in a room of stored texts."""

from typing import Any

import pytest

from storage.database import reading
from storage.scores import Absence, ScoreStatus, StoredClaim, StoredProfile, get_profile, profile_claims
from tasks.scoring.checks import check_document, check_fact
from tasks.scoring.criteria import DocumentCheck, FactRule
from tasks.scoring.results import CriterionResult
from tasks.scoring.rules import rule_in_words
from tests.cases import cases
from tests.tasks.scoring.conftest import Room

SCALE = (1.0, 5.0)
ACCOUNTS = "Alpha Ltd\nAnnual report 2024\nAudited financial statements\n\nThe board presents its report."
CONTRACT = (
    "Services agreement\nbetween Alpha Ltd and Beta plc\n\n"
    "The Supplier shall send its audited financial statements to the Customer within six months of each year's end."
)


def fact_of(room: Room, fact: str, rule: str | None, bands: dict[float, str] | None = None) -> CriterionResult:
    profile: StoredProfile | None = None
    claims: list[StoredClaim] = []
    if room.company.profile_id is not None:
        with reading() as session:
            profile = get_profile(session, room.company.profile_id)
            claims = list(profile_claims(session, room.company.profile_id))
    return check_fact(FactRule(id="a", fact=fact, rule=rule, bands=bands), SCALE, profile, claims)


def document_of(room: Room, document: str) -> CriterionResult:
    return check_document(DocumentCheck(id="a", document=document), SCALE, room.evidence)


# --- facts


@cases(
    ("written", "words"),
    [
        ("<= 25 %", "at most 25 %"),
        ("growth >= 20 %", "growth of at least 20 %"),
        ("≥ EUR 5 million", "at least EUR 5 million"),
        ("!= 0", "other than 0"),
        ("= true", "true"),
        ("not  in [DE, NO]", "none of DE, NO"),
        ("contains saas", "text that contains saas"),
        ("between 1 and 3", "between 1 and 3"),
    ],
)
def test_rules_are_told_in_words(written: str, words: str) -> None:
    assert rule_in_words(written) == words


def test_a_rule_that_is_met_gives_the_top_of_the_scale_and_names_the_source(room: Room) -> None:
    room.is_known_as(("founded_year", 1994, "files"), ("founded_year", 1995, "wikidata"), founded_year=1994)
    finding = fact_of(room, "founded_year", "<= 2018")
    assert (finding.status, finding.score) == (ScoreStatus.SCORED, 5)
    assert finding.reason == "Founding year is 1994 (files, as of 2025-03-31). You asked for 2018 or earlier: met."


@pytest.mark.parametrize(
    ("founded", "score", "reason"),
    [
        (1994, 5, "That earns 5 points: 2000 or earlier."),
        (2012, 3, "That earns 3 points: 2018 or earlier."),
        (2021, 1, "That is in none of your bands: 2018 or earlier (3 points), 2000 or earlier (5 points)."),
    ],
)
def test_the_best_band_that_is_met_counts(room: Room, founded: int, score: float, reason: str) -> None:
    room.is_known_as(("founded_year", founded, "files"), founded_year=founded)
    finding = fact_of(room, "founded_year", None, {3: "<= 2018", 5: "<= 2000"})
    assert (finding.status, finding.score) == (ScoreStatus.SCORED, score)
    assert finding.reason.endswith(reason)


def test_a_rule_that_is_not_met_gives_the_bottom(room: Room) -> None:
    room.is_known_as(("founded_year", 2021, "files"), founded_year=2021)
    finding = fact_of(room, "founded_year", "<= 2018")
    assert (finding.status, finding.score) == (ScoreStatus.SCORED, 1)
    assert finding.reason.endswith("You asked for 2018 or earlier: not met.")


@pytest.mark.parametrize(
    ("profile", "fact", "rule", "met"),
    [
        ({"hq": {"country": "NO"}}, "hq.country", "in [DE, NO]", True),
        ({"hq": {"country": "DK"}}, "hq.country", "in [DE, NO]", False),
        ({"hq": {"is_hq": True}}, "hq.is_hq", "== true", True),
        ({"hq": {"is_hq": False}}, "hq.is_hq", "== true", False),
        ({"company_size": [51, 200]}, "company_size.0", ">= 50", True),
        ({"company_size": [51, None]}, "company_size.0", ">= 50", True),
        ({"extra": {"operating_status": "Active"}}, "extra.operating_status", "== active", True),
        ({"specialities": ["ERP", "SaaS"]}, "specialities", "contains saas", True),
        ({"founded_year": 0}, "founded_year", "<= 2018", True),
    ],
)
def test_rules_read_the_profile_as_it_is_stored(
    room: Room, profile: dict[str, Any], fact: str, rule: str, *, met: bool
) -> None:
    room.is_known_as(**profile)
    assert fact_of(room, fact, rule).score == (5 if met else 1)


@pytest.mark.parametrize(
    ("profile", "fact", "name"),
    [
        ({}, "founded_year", "founding year"),
        ({"founded_year": None}, "founded_year", "founding year"),
        ({"hq": None}, "hq.country", "country of the headquarters"),
        ({"company_size": [50, None]}, "company_size.1", "largest number of employees"),
        ({"locations": []}, "locations.0.postal_code", "postal code"),
    ],
)
def test_an_unknown_fact_is_missing_by_its_name_for_people_and_meets_nothing(
    room: Room, profile: dict[str, Any], fact: str, name: str
) -> None:
    room.is_known_as(**profile)
    finding = fact_of(room, fact, "!= 3" if fact != "hq.country" else "!= DE")
    assert (finding.status, finding.score, finding.missing) == (ScoreStatus.MISSING, None, name)
    assert finding.reason == f"{name.capitalize()} is unknown: the company profile has no value for it."


def test_without_a_profile_the_fact_is_missing(room: Room) -> None:
    finding = fact_of(room, "founded_year", "<= 2018")
    assert finding.status is ScoreStatus.MISSING
    assert "no source has facts about the company" in finding.reason


def test_the_source_of_a_part_is_that_of_the_whole(room: Room) -> None:
    room.is_known_as(("hq", {"country": "DE", "is_hq": True}, "website"), hq={"country": "DE", "is_hq": True})
    assert (
        "Country of the headquarters is DE (website, as of 2025-03-31)" in fact_of(room, "hq.country", "== DE").reason
    )
    assert "Seat is the headquarters is true (website" in fact_of(room, "hq.is_hq", "== true").reason


# --- documents


@pytest.mark.parametrize(
    ("document", "path", "name", "matched"),
    [
        ("cap table", "", "Cap table 2025.xlsx", "of the kind “Cap table”"),
        ("cap table", "", "cap_table-2025.xlsx", "of the kind “Cap table”"),
        ("cap table", "", "CapTable2025.xlsx", "of the kind “Cap table”"),
        ("cap table", "", "captable.xlsx", "of the kind “Cap table”"),
        ("cap table", "Cap table", "2025-01.xlsx", "of the kind “Cap table”"),
        (
            *("audited financial statements", "Audited", "FinancialStatements FY24.pdf"),
            "of the kind “Audited financial statements”",
        ),
        (
            *("shareholder agreement", "", "Shareholders' Agreement - signed.docx"),
            "of the kind “Shareholders' agreement”, signed",
        ),
        ("data protection policy", "Data protection", "Policy.docx", "of the kind “Data protection policy”"),
        ("Geschäftsführervertrag", "", "Geschaeftsfuehrervertrag.pdf", "of the kind “Employment contract”"),
        ("Geschäftsführervertrag", "", "Gescha\u0308ftsfu\u0308hrervertrag.pdf", "of the kind “Employment contract”"),
        ("Geschaftsfuhrervertrag", "", "Geschäftsführervertrag.pdf", "of the kind “Employment contract”"),
        ("Østerå agreement", "", "Ostera - agreement.docx", "matched by name or folder"),
        ("accounts 2024", "", "Accounts_FY2024.pdf", "matched by name or folder"),
        ("NDA", "", "signed-nda.pdf", "of the kind “Non-disclosure agreement”, signed"),
    ],
)
def test_a_document_is_found_by_its_name_and_folder(
    room: Room, document: str, path: str, name: str, matched: str
) -> None:
    room.holds("Lease.pdf", "The lease.")
    room.holds(name, "Something else.", path=path)
    finding = document_of(room, document)
    assert (finding.status, finding.score) == (ScoreStatus.SCORED, 5)
    assert finding.reason == f"In the data room: {name} ({matched})."
    assert [quote.text for quote in finding.quotes] == ["Something else."]


def test_a_document_is_found_by_its_opening_lines(room: Room) -> None:
    room.holds("Scan 0012.pdf", ACCOUNTS, [(0, len(ACCOUNTS), "page", "1")])
    room.holds("Agreement.docx", CONTRACT)
    finding = document_of(room, "audited financial statements")
    assert finding.reason == "In the data room: Scan 0012.pdf (of the kind “Audited financial statements”)."
    (quote,) = finding.quotes
    assert quote.excerpt is not None
    assert (quote.text, quote.stance, quote.excerpt.place) == (ACCOUNTS, None, "page 1")
    assert ACCOUNTS[quote.excerpt.start : quote.excerpt.end] == quote.text


@cases(
    ("asked", "text", "is_found"),
    [
        ("chairman's report", "Agenda\n1. Minutes\n2. Chairman's report\n", False),
        ("chairman's report", "Minutes\nPoint 2 Chairman's report (attached)\n", False),
        ("chairman's report", "The chairman\nwelcomes all.\nThe report\n", False),
        ("chairman's report", "Alpha Ltd\nChairman's report 2024\n", True),
        ("déclaration sur l'honneur", "Déclaration - Honneur\n", True),
        ("état de l’actif", "Actif net : état au 31 décembre\n", True),
    ],
)
def test_words_that_name_no_kind_stand_in_one_line_of_no_list(
    room: Room, asked: str, text: str, is_found: bool
) -> None:
    room.holds("Scan 0012.pdf", text)
    assert (document_of(room, asked).status is ScoreStatus.SCORED) is is_found


def test_of_several_of_a_kind_the_one_that_is_called_so_is_shown(room: Room) -> None:
    room.holds("Statutes 2026-03-27.pdf", "Articles of association of Alpha\nDirectors")
    room.holds("Certificate of incorporation.pdf", "Certificate of incorporation\nAlpha")
    assert document_of(room, "certificate of incorporation").reason == (
        "In the data room: Certificate of incorporation.pdf (of the kind “Articles of association”). "
        "Other matches: Statutes 2026-03-27.pdf."
    )


@pytest.mark.parametrize(
    ("asked", "name", "text", "is_found"),
    [
        ("articles of incorporation", "Bylaws.pdf", "Bylaws of Alpha\nThe directors meet.", False),
        ("certificate of incorporation", "a.pdf", "By-laws of Alpha\nThe directors meet.", False),
        ("by-laws", "Articles.pdf", "Articles of Incorporation of Alpha\nDirectors", False),
        ("by-laws", "b.pdf", "Amended and Restated Bylaws\nThe directors meet.", True),
        ("articles of incorporation", "Satzung.pdf", "Satzung der Alpha AG\nVorstand", True),
        ("articles of association", "Bylaws.pdf", "Bylaws of Alpha\nThe directors meet.", True),
        ("travel policy", "Quality policy.pdf", "Quality policy\nAll staff must weigh each part.", False),
        ("travel policy", "Travel policy.pdf", "Travel policy\nAll staff must book early.", True),
        ("minutes of the 2022 board meeting", "Minutes 2025.pdf", "Minutes of the board meeting\n4 May 2025", False),
        ("minutes of the 2022 board meeting", "Minutes.pdf", "Minutes of the board meeting\n4 May 2022", True),
        ("option agreement", "a.pdf", "Issued pursuant to Rule 701\nStock Option Agreement\nIt vests.", True),
        ("signed contact form", "Contact form template.pdf", "Contact form\nName:\nPhone:", False),
        ("form 12", "Form 12 template.pdf", "Form 12\nName:\nPhone:", False),
        ("contact form", "Contact form template.pdf", "Contact form\nName:\nPhone:", True),
        ("financial statements", "Jahresbericht.md", "# Jahresbericht 2024\n" + "Fest mit 1.200 Gästen.\n" * 9, False),
        ("annual report", "Jahresbericht.md", "# Jahresbericht 2024\n" + "Fest mit 1.200 Gästen.\n" * 9, True),
    ],
)
def test_another_document_of_the_kind_is_not_what_is_asked_for(
    room: Room, asked: str, name: str, text: str, is_found: bool
) -> None:
    room.holds(name, text)
    assert (document_of(room, asked).status is ScoreStatus.SCORED) is is_found


@pytest.mark.parametrize(("name", "score"), [("Contact form template.pdf", 5), ("Contact form superseded.pdf", 3)])
def test_who_asks_for_a_form_gets_an_empty_one_in_full_and_an_old_one_by_half(
    room: Room, name: str, score: int
) -> None:
    room.holds(name, "Contact form\nName:\nPhone:")
    assert document_of(room, "contact form").score == score


def test_a_contract_that_mentions_the_document_is_not_the_document(room: Room) -> None:
    room.holds("Agreement.docx", CONTRACT)
    room.holds("Minutes.txt", "Minutes\n\nThe board approved the audited financial statements of 2024.")
    room.holds("Policy.txt", "Handbook\n" + "x\n" * 400 + "Audited financial statements\n")
    finding = document_of(room, "audited financial statements")
    assert (finding.status, finding.score) == (ScoreStatus.MISSING, None)
    assert finding.missing == "audited financial statements"
    assert finding.reason == (
        "No document in the data room matches “audited financial statements” by its name, folder or opening lines. "
        "Nearest: Minutes.txt, Agreement.docx, Policy.txt."
    )


def test_no_front_matter_is_quoted(room: Room) -> None:
    fields = "---\ntitle: Policies\n---\n"
    room.holds(
        "Articles.md",
        f"{fields}# Articles of association\nThe members meet.",
        [(0, len(fields), "unseen", "front matter")],
    )
    assert document_of(room, "articles of association").quotes[0].text.startswith("# Articles")


def test_the_nearest_documents_are_named(room: Room) -> None:
    room.holds("Financial model.xlsx", "Model")
    room.holds("Statements of financial position.xlsx", "Position")
    room.holds("Lease.pdf", "Lease")
    reason = document_of(room, "audited financial statements").reason
    assert reason.endswith("Nearest: Statements of financial position.xlsx, Financial model.xlsx.")


def test_the_nearest_match_by_name_folder_or_opening_lines_and_then_by_their_text(room: Room) -> None:
    room.holds("Minutes.txt", "The board approved them.\nThen it looked at the audited accounts for an hour.")
    room.holds("Scan 1.pdf", "Consolidated Statements\n\nof Alpha.")
    room.holds("Lease.pdf", "The lease.")
    finding = document_of(room, "audited financial statements")
    assert [(near.document.name, near.why) for near in finding.nearest] == [
        ("Scan 1.pdf", "its opening lines contain “statements”"),
        ("Minutes.txt", "it mentions “audited” (lines 1 to 2)"),
    ]
    room.holds("2024.pdf", path="Audited")
    room.holds("Statements_financial.pdf")
    finding = document_of(room, "audited financial statements")
    assert [near.as_json() for near in finding.nearest][:2] == [
        {
            "document_id": "/Statements_financial.pdf",
            "document_name": "Statements_financial.pdf",
            "document_url": "http://x/Statements_financial.pdf",
            "why": "its name contains “financial”, “statements”",
        },
        {
            "document_id": "Audited/2024.pdf",
            "document_name": "2024.pdf",
            "document_url": "http://x/2024.pdf",
            "why": "its folder's name contains “audited”",
        },
    ]
    assert len(finding.nearest) == 3
    assert "Nearest: Statements_financial.pdf, 2024.pdf, Scan 1.pdf." in finding.reason


def test_where_nothing_comes_near_nothing_is_named(room: Room) -> None:
    room.holds("Lease.pdf", "The lease.")
    finding = document_of(room, "cap table")
    assert (list(finding.nearest), finding.reason) == (
        [],
        "No document in the data room matches “cap table” by its name, folder or opening lines.",
    )


def test_a_document_of_that_name_without_a_text_counts_and_says_so(room: Room) -> None:
    room.holds("Cap table.pdf")
    finding = document_of(room, "cap table")
    assert (finding.status, list(finding.quotes)) == (ScoreStatus.SCORED, [])
    assert (
        finding.reason
        == "In the data room: Cap table.pdf (of the kind “Cap table”). It has no readable text, so check it yourself."
    )


def test_of_several_the_one_with_a_text_is_shown_and_the_others_named(room: Room) -> None:
    room.holds("Cap table 2023.pdf")
    room.holds("Cap table 2024.xlsx", "Holder\tShares")
    room.holds("A note.txt", "A note", path="Cap table")
    assert document_of(room, "cap table").reason == (
        "In the data room: Cap table 2024.xlsx (of the kind “Cap table”). "
        "Other matches: Cap table 2023.pdf, A note.txt."
    )


def test_an_empty_room_lacks_the_document(room: Room) -> None:
    assert document_of(room, "cap table").status is ScoreStatus.MISSING


@pytest.mark.parametrize(
    ("document", "name", "text", "why"),
    [
        ("lease", "Lease.docx", "DRAFT\nLease\nLandlord and tenant agree.", "it is a draft"),
        ("lease", "Lease.docx", "Lease\nLandlord: __________\nTenant: __________", "it is not signed"),
        ("lease", "Lease - superseded.pdf", "Lease\nLandlord and tenant agree.", "it is no longer in force"),
        ("staff survey", "Staff survey DRAFT.docx", "Answers", "it is a draft"),
    ],
)
def test_a_lesser_state_gives_half_the_scale_and_says_so(
    room: Room, document: str, name: str, text: str, why: str
) -> None:
    room.holds(name, text)
    finding = document_of(room, document)
    assert (finding.status, finding.score) == (ScoreStatus.SCORED, 3)
    assert finding.reason.endswith(f", but {why}: half of the marks.")


def test_unaudited_accounts_give_half_for_audited_ones(room: Room) -> None:
    room.holds("f.txt", "Financial statements 2024 (not audited)")
    finding = document_of(room, "audited financial statements")
    assert (finding.score, finding.reason) == (
        3,
        "In the data room: only f.txt, of the kind “Unaudited financial statements”: half of the marks.",
    )


def test_a_template_is_no_document_but_the_nearest(room: Room) -> None:
    room.holds("Lease template.docx", "Lease\nLandlord [NAME], tenant [NAME]")
    finding = document_of(room, "lease")
    assert finding.status is ScoreStatus.MISSING
    assert finding.reason == "For “lease” the data room has only a template: Lease template.docx."
    assert [near.why for near in finding.nearest] == ["it is of the kind “Lease”, it is a template"]


def test_a_missing_agreement_that_a_document_refers_to_is_named(room: Room) -> None:
    room.holds("Lease.txt", "Lease\nLandlord and tenant, as varied by the Facility Agreement dated 4 May 2020.")
    reason = document_of(room, "facility agreement").reason
    assert "The room lacks “Facility Agreement dated 4 May 2020”, which Lease.txt refers to." in reason


@pytest.mark.parametrize(
    ("said", "is_denied"),
    [
        ("The company has no D&O insurance.", True),
        ("Insurance\nThere is no insurance policy in place.", True),
        ("Eine D&O-Versicherung besteht nicht.", True),
        ("Il n'y a pas de police d'assurance.", True),
        ("La sociedad no tiene seguro D&O en vigor.", True),
        ("No D&O insurance may be cancelled without notice.", False),
        ("There is no cyber insurance.", False),
        ("The board discussed the D&O insurance.", False),
    ],
)
def test_a_room_that_says_that_there_is_none_is_not_silent(room: Room, said: str, is_denied: bool) -> None:
    room.holds("Notes of 4 May.txt", f"Notes\nThe board met in Porto.\n{said}\n")
    assert (document_of(room, "D&O insurance").absence is Absence.NONE) is is_denied


def test_a_document_of_a_kind_must_have_the_other_words_too(room: Room) -> None:
    room.holds("Lease Leeds.pdf", "Lease of the premises in Leeds, landlord and tenant")
    assert document_of(room, "lease in Leeds").score == 5
    assert document_of(room, "lease in York").status is ScoreStatus.MISSING


@cases(
    ("asked", "status"),
    [
        ("asset purchase agreement", ScoreStatus.MISSING),
        ("share purchase agreement", ScoreStatus.SCORED),
    ],
)
def test_a_sale_of_shares_is_no_sale_of_assets(room: Room, asked: str, status: ScoreStatus) -> None:
    title = "AGREEMENT FOR THE SALE AND PURCHASE OF THE ENTIRE ISSUED SHARE CAPITAL OF BETA LIMITED"
    room.holds("a.txt", f"{title}\nbetween Alpha Ltd (the Seller) and Gamma Ltd (the Purchaser)\n")
    assert document_of(room, asked).status is status
