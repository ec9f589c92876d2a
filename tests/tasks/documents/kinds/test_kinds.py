"""The kinds of documents: on a set of openings of our own, and what separates a document from what only names it."""

import hashlib
import tomllib
from dataclasses import replace
from pathlib import Path, PurePath

import pytest

from storage import database
from storage.texts import NewText, Outcome, save_text
from tasks.documents.kinds.catalogue import is_kind, kinds, may_be_document, plain_words
from tasks.documents.kinds.contents import resemblance, sketch
from tasks.documents.kinds.document import DocumentKind, document_kind, may_be_any, parse_asked_kind
from tasks.documents.kinds.room import Family, FamilyMember, FamilyTie, IndexedDocument, find_families, room_kinds
from tasks.documents.kinds.signs import read_signs
from tests.cases import cases

AUDITED = "audited_financial_statements"
AMOUNTS = "\n".join(f"{number} 000,00\t{number} 500,00" for number in range(1, 9))
BLANKS = "________\nA. Berg\nDate: ________\n________\nB. Holm\nDate: ________\n"
FRENCH = (
    "CONTRAT DE PRESTATION DE SERVICES\nEntre Alpha et {0}. Vu {1}, {0} et {1}.\n" + "Le Prestataire fournit. " * 40
)
POLICY = "The insurer shall pay the insured. The premium and the deductible are due. The sum insured is 5,000,000."
TITLES = tomllib.loads(Path(__file__).with_name("titles.toml").read_text(encoding="utf-8"))
OPENINGS = tomllib.loads(Path(__file__).with_name("openings.toml").read_text(encoding="utf-8"))["documents"]
LEASE = "LEASE\nbetween Harbour Estates (Landlord) and Northgate (Tenant)\n" + " ".join(
    f"clause {number} on the premises and their rent" for number in range(80)
)


def what(name: str, text: str, path: str = "") -> DocumentKind:
    return document_kind(name, path, read_signs(text, []))


def member(name: str, text: str) -> FamilyMember:
    content = hashlib.sha256(text.encode()).hexdigest()
    return FamilyMember(name, name, what(name, text), content, sketch(text), read_signs(text, []).head)


def named(family: Family) -> tuple[str, dict[str, FamilyTie]]:
    return family.front.name, {other.name: tie for other, tie in family.others}


def test_at_least_ninety_five_of_a_hundred_openings_have_their_kind_and_state() -> None:
    right, unaudited = 0, []
    for name, kind, state, text in OPENINGS:
        found = what(PurePath(name).name, text)
        right += (found.kind or "", found.state or "") == (kind, state)
        unaudited += [name] if found.holds(AUDITED) is not None and kind != AUDITED else []
    assert unaudited == []
    assert len({kind for _, kind, *_ in OPENINGS}) > 25
    assert right >= 0.95 * len(OPENINGS)


@cases(
    ("name", "text"),
    [
        ("f.txt", "Financial statements 2024, not yet audited"),
        ("f.txt", "Audited financial statements: please send these to us."),
        ("f.txt", "Audited accounts (missing)"),
        ("f.txt", "Index of audited financial statements"),
        ("f.txt", "Comptes annuels 2024 (audit en cours)"),
        ("f.txt", "Jaarrekening 2024 (niet gecontroleerd)"),
        ("Audit engagement letter - financial statements 2024.txt", "Dear Sirs, we confirm the terms."),
        ("FS_2024_not_audited.pdf", "Balance sheet\nAssets\nLiabilities"),
        ("f.txt", "Audited financial statements may follow later"),
        ("f.txt", "Audited financial statements reviewed"),
        ("f.txt", "Reviewed audited financial statements"),
        ("f.txt", "Las cuentas anuales auditadas son de 2023"),
        ("f.txt", "Covenants\nThe lender may request audited financial statements\nThe lender looks at the books"),
        ("Minutes.txt", "The board approved them.\nThen it looked at the audited accounts for an hour."),
    ],
)
def test_what_only_names_audited_accounts_is_none(name: str, text: str) -> None:
    assert what(name, text).holds(AUDITED) is None


@cases(
    "line",
    [
        "The lender may request audited financial statements",
        "Tenant may 30 days later leave the lease agreement",
        "Under clause 4 may come the lease agreement",
        "Employment contract may change",
        "The tenant can give back the lease agreement",
        "Los contratos de arrendamiento son confidenciales",
        "Der Vermieter kann den Mietvertrag beenden",
        "Board minutes reviewed",
        "The parties state when the loan agreement ended",
        "The lender needs audited financial statements",
        "Die Bank braucht den geprüften Jahresabschluss",
        "Acme signs share purchase agreement with Beta",
        "Status report on the lease agreement",
        "Lease agreement: everything you need to know",
        "Loan agreement signed with the bank",
        "Company files full year audited financial statements",
        "Tenant delivers executed copy of lease agreement",
        "Acme a signé contrat de bail avec Beta",
        "Acme unterzeichnet Mietvertrag mit Beta",
        "Customers with signed supply agreement",
        "A Non-Disclosure Agreement",
    ],
)
def test_a_sentence_is_no_title(line: str) -> None:
    assert [what("f.txt", text).kind for text in (f"{line}\n{NEXT_WEEK}", f"Notes\n{line}\n{NEXT_WEEK}")] == [
        None,
        None,
    ]


def test_a_list_of_questions_is_a_request_list() -> None:
    rows = "No\tRequest\tAnswer\n1\tPlease provide the articles\t\n2\tPlease provide the minutes\t\n"
    for name, title in (("DD questions.xlsx", "Due diligence questions"), ("Request list - questions.xlsx", "List")):
        assert what(name, f"{title}\n{rows}").kind == "request_list"


@cases(
    "line",
    [
        "We answer a request for proposal in a week.",
        "Ask for the request list.",
        "§ 4 Request for information",
        "Request for information ........ 12",
    ],
)
def test_what_asks_late_in_a_guide_is_no_request_list(line: str) -> None:
    chapters = "Guide\nOur work\nPeople\nPlaces\nTools\nBooks\nMusic\nFood\nTravel\nNotes\n"
    assert what("f.txt", f"{chapters}{line}\nMore words follow here and go on.\n").kind is None


NEXT_WEEK = "We look at this next week.\nRegards"


@cases(
    ("line", "dated"),
    [
        ("Rent may rise on 1 January 2027", None),
        ("Kristiansand, 30 May 2022", "2022-05-30"),
        ("State of Texas, May 4th, 2024", "2024-05-04"),
    ],
)
def test_the_line_of_a_day_dates_a_document_and_a_sentence_does_not(line: str, dated: str | None) -> None:
    assert read_signs(f"LEASE AGREEMENT\n{line}\nHarbour Estates", []).dated == dated


@pytest.mark.parametrize(("part", "is_audited"), [("unaudited", False), ("audited", True)])
def test_accounts_are_audited_where_auditors_have_said_so(part: str, is_audited: bool) -> None:
    said_otherwise = [
        text for name, text in TITLES[part] if (what(name, text).holds(AUDITED) is not None) is not is_audited
    ]
    assert said_otherwise == []


NO_OPINION = "Financial statements 2024\n\nIndependent auditor’s report\nIn our opinion the records are in order. "
OPINION = "Financial statements 2024\n\nIndependent auditor's report\nIn our opinion they give a true and fair view. "


@cases(
    ("text", "is_audited"),
    [
        ("Jahresabschluss 2024\n\nWir geben kein Prüfungsurteil zu dem beigefügten Jahresabschluss ab.", False),
        ("Jahresabschluss 2024\n\nEine prüferische Durchsicht umfasst kein Prüfungsurteil.", False),
        ("Jahresabschluss 2024\n\nWir können daher einen Bestätigungsvermerk nicht erteilen.", False),
        (NO_OPINION + "Accordingly, we do not express an audit opinion.", False),
        (NO_OPINION + "We do not express an opinion on the Group’s financial statements.", False),
        (
            NO_OPINION
            + "Other information is theirs. We do not express an opinion on the company's financial statements.",
            False,
        ),
        (
            NO_OPINION + "We do not express an opinion, a conclusion, nor provide any assurance on these statements.",
            False,
        ),
        (
            (
                "Jaarrekening 2024\n\nControleverklaring\nNaar ons oordeel is de administratie op orde. "
                "Wij geven geen oordeel over de in dit rapport opgenomen jaarrekening."
            ),
            False,
        ),
        (
            OPINION + "Our opinion on the financial statements does not cover the other information and, accordingly, "
            "we do not express an audit opinion or any form of assurance conclusion thereon.",
            True,
        ),
        (
            OPINION + "Our opinion on the financial statements does not cover those reports and we do not express an "
            "audit opinion thereon.",
            True,
        ),
        (NO_OPINION + "Our work does not cover an audit and we do not express an opinion.", False),
        (NO_OPINION + "We were engaged. Our opinion does not cover them. We do not express an opinion.", False),
        (OPINION + "We looked at internal control. Accordingly, we do not express an opinion on it.", True),
        (
            OPINION
            + "We did not audit the 2023 statements other than with respect to the adjustments and, accordingly, "
            "we do not express an opinion or any other form of assurance on the 2023 statements taken as a whole.",
            True,
        ),
        (OPINION + "We were not asked for the purpose of expressing an opinion on internal control.", True),
        (
            (
                "Jahresabschluss 2024\n\nBestätigungsvermerk\nNach unserer Beurteilung entspricht er den Vorschriften. "
                "Zu den sonstigen Informationen geben wir kein Prüfungsurteil ab."
            ),
            True,
        ),
    ],
)
def test_auditors_who_give_no_opinion_on_the_accounts_have_not_audited_them(text: str, is_audited: bool) -> None:
    assert (what("f.txt", text).holds(AUDITED) is not None) is is_audited


def test_at_least_ninety_five_of_a_hundred_titles_have_their_kind() -> None:
    words = "This document was prepared on 4 May 2024 by Harrow Field Ltd and Penrose GmbH.\n"
    missed = [title for title, kind in TITLES["titles"] if what("doc.txt", f"{title}\n\n{words}").holds(kind) is None]
    assert len(missed) <= 0.05 * len(TITLES["titles"]), missed


@cases(
    ("title", "kinds_of_it"),
    [
        ("Loan and Security Agreement", {"loan_agreement", "security_agreement"}),
        ("Consulting and Confidentiality Agreement", {"contractor_agreement", "nda"}),
        ("Exclusive distribution and supply agreement", {"distribution_agreement", "supplier_contract"}),
        ("Non-disclosure/non-compete agreement", {"nda"}),
        ("Some remarks of ours on the lease", set()),
    ],
)
def test_a_title_that_joins_two_kinds_is_both(title: str, kinds_of_it: set[str]) -> None:
    found = what("doc.txt", f"{title}\nmade on 4 May 2024\n")
    assert {kind for kind in kinds() if found.holds(kind) is not None} == kinds_of_it


def test_an_annual_report_with_an_opinion_is_both() -> None:
    report = what(
        "AR.txt", "FORM 10-K\nReport of Independent Registered Public Accounting Firm\nIn our opinion they are fair."
    )
    assert (report.kind, report.holds("annual_report"), report.holds("lease")) == (AUDITED, 0, None)


def test_two_kinds_in_one_file_are_both_there_with_their_places() -> None:
    second = "SHAREHOLDERS' AGREEMENT\nThis agreement is made between the founders and the investors.\n"
    text = f"{LEASE}\n\n{second}"
    both = what("bundle.txt", text)
    assert (both.kind, both.holds("shareholders_agreement")) == ("lease", text.index(second))


def test_a_form_of_an_agreement_is_a_template() -> None:
    form = what("ex10-3.txt", "FORM OF FRANCHISE AGREEMENT\nbetween the Company and the Franchisee\n")
    assert (form.kind, form.state) == ("distribution_agreement", "template")
    assert what("model.xlsx", "Financial model\nSource: Acme_model_template_v8.xlsx\nSales\t5").state is None


@cases(
    ("name", "text"),
    [
        ("comptes.md", "# Procédure de publication des comptes\n\nSe connecter, puis déposer les comptes annuels."),
        ("obtenir_kbis.md", "# Obtenir un nouveau KBis\n\nOn peut le télécharger."),
        ("README.md", "# Administration\n\nSiège : Paris\n\n## Statuts\n\n- [Statuts](statuts.md)\n"),
        ("profile.md", "# Companies House company profile\n\nRegistered under number 06055393."),
        ("photo.txt", "Written consent of family members. I agree to the use of my photograph."),
        ("handbook.txt", "Handbook\nAlpha\nBeta\n1. Lease agreement\n2. Loan agreement\n"),
        (
            "plan.md",
            "# Three years\n\n> Outputs at the base case\n> ($1.75M Convertible Note now plus a planned\n> round).",
        ),
        (
            "contracts.csv",
            "Lease agreement\tQuay Estates\t2021-03-01\nSupply agreement\tOak plc\t2022-05-01\n",
        ),
        ("page.html", "Home\nNews\nShareholders' agreement signed between Acme and Beta\nRead more\n"),
        ("chart.pdf", "Group authority\n1) Name\tA\tR\n3) Change of the\tA\tR\nArticles of Association\t\t\n"),
        ("care.pdf", "Wohn- und Betreuungsvertrag\nHaus Eins\nBerlin\n§ 9 Kündigung\nMit einer Frist von 14 Tagen."),
        ("figures.csv", "Parameter\tValue\nReserves\t31\nLoan agreement\t100\nLease\t101\n"),
        ("glossary.html", "About us\nA non-disclosure agreement (NDA) is a contract between two parties."),
        ("notes.md", "# General meeting\nOpening\n43 people signing powers of attorney included\nVote"),
        ("report.pdf", "Analysis of Sleep plc\n4 May 2024\nAuthor\nTable of contents\n1 Lease\n2 Company presentation"),
        ("page.html", "Accounts 2016\n• Auditors' report\n• Consolidated financial statements\nDownload"),
        ("Insurance Product Information Document.pdf", "Key Information Document\nWhat is insured?"),
        ("claim.pdf", "Executive expenses claim form\nName\nTotal claimed\n"),
        ("report.pdf", "Report on the investigation\nAcme\n4 May 2024\nTable of contents\n1. Introduction"),
        ("wi_versicherungs_memo.docx", "W&I-Versicherungs-Memo – Projekt Falke\nLimit 20 Mio. EUR"),
        (
            "rules.md",
            "# Rules of procedure\n\n2. Resolutions may be passed by telephone or otherwise (as by e-mail).",
        ),
    ],
)
def test_what_only_speaks_of_a_document_is_not_that_document(name: str, text: str) -> None:
    assert what(name, text).kind in {None, "index"}


@cases(
    "opening",
    [
        "AMENDMENT NO. 1 TO LOAN AGREEMENT",
        "DEED OF GUARANTEE FOR LOAN AGREEMENT",
        "Termination of Lease Agreement",
        "Novation of Supply Agreement",
        "Consent under Loan Agreement",
        "EXHIBIT A TO CREDIT AGREEMENT",
        "Schedule to the Licence Agreement",
        "The licence agreement",
    ],
)
def test_a_deed_about_an_agreement_is_not_that_agreement(opening: str) -> None:
    sentence = "This Agreement is made on 4 May 2024 between Acme Ltd and Beta plc of London and binds their successors"
    assert what("doc.txt", f"{opening} {sentence}").kind in {None, "amendment", "guarantee", "termination_notice"}


@cases(
    ("title", "kind"),
    [
        ("Certified true copy of articles of association", "articles"),
        ("Unanimous written consent of directors", "board_resolution"),
        ("Executed copy of share purchase agreement", "share_purchase_agreement"),
        ("Signed version of the lease agreement", "lease"),
        ("Acme group consolidated financial statements 2023", "financial_statements"),
        ("Group strategic report and financial statements", "financial_statements"),
        ("Acme société anonyme comptes annuels 2023", "financial_statements"),
        ("Exemplaire signé du contrat de bail commercial", "lease"),
        ("Copia firmada del contrato de arrendamiento", "lease"),
        ("Texto refundido de los estatutos sociales", "articles"),
        ("Testo coordinato dello statuto sociale", "articles"),
        ("Entwurf eines Gesellschaftsvertrags", "articles"),
        ("Notariell beurkundeter Gesellschaftsvertrag", "articles"),
        ("A/S Nord Årsrapport 2024", "financial_statements"),
        ("A&B Ltd Annual accounts 2023", "financial_statements"),
        ("A O Smith Corporation Annual report", "annual_report"),
        ("Memo AG\nJahresabschluss 2023", "financial_statements"),
    ],
)
def test_a_title_may_have_words_in_small_letters_or_begin_with_a_name(title: str, kind: str) -> None:
    assert what("doc.pdf", f"{title}\n\nSome body text follows here.").kind == kind


@cases(
    ("text", "kind"),
    [
        ("Harbour Estates plc\nNorthgate Ltd\n3 May 2024\nLondon\n1. LEASE AGREEMENT\nThe landlord", "lease"),
        ("Acme GmbH\nUlm\nHRB 5\n1. Gesellschaftsvertrag", "articles"),
        ("Acme GmbH\nUlm\nHRB 5\n- Gesellschaftsvertrag -", "articles"),
        ("A/S Nord\nKøbenhavn\n2024\n1. Årsrapport 2024", "financial_statements"),
        ("Exhibit 10.4\n2024\nAcme\n(Loan agreement)", "loan_agreement"),
        ("EXHIBIT 10.3 SUPPLY AGREEMENT This Agreement is made by Grid Inc. and Shi LLC", "supplier_contract"),
        ("Patent and know-how licence agreement\nAcme", "licence_agreement"),
        ("Action by written consent of the sole member", "shareholder_resolutions"),
        ("Action by written consent of the members of Alpha LLC", "shareholder_resolutions"),
    ],
)
def test_a_title_may_bear_a_number_or_brackets(text: str, kind: str) -> None:
    assert what("doc.txt", text).kind == kind


@cases(
    ("text", "kind"),
    [
        ("Öffentliches Protokoll der 5. Vorstandssitzung vom 20. März 2020\nTOP 1. Begrüßung\n", "board_minutes"),
        ("Protokoll der Mitgliederversammlung vom 1. Juni 2018\nTOP 1. Begrüßung\n", "shareholder_resolutions"),
        ("INITIAL WRITTEN CONSENT OF THE MEMBER\n1. Formation\n2. Operating Agreement\n", "shareholder_resolutions"),
        (
            "Protokoll\nMitgliederversammlung des Vereins\n22.06.2019\nProtokollführer: B. Carl\nAnwesend: 8\nVorstand",
            "members_meeting",
        ),
    ],
)
def test_minutes_are_told_by_their_titles(text: str, kind: str) -> None:
    assert what("doc.txt", text).kind == kind


def test_a_row_of_a_long_table_is_no_document_inside_it() -> None:
    rows = "\n".join(f"{number}) Issue of shares by directors\tA\tR" for number in range(20))
    chart = what("chart.pdf", f"Group authority\n{rows}\nArticles of Association\t\t\n{rows}")
    assert chart.holds("articles") is None


def test_a_table_of_agreements_is_none() -> None:
    rows = (
        "Holder\tSecurity\nA. Berg\tMembership interest\n\t\nCONVERTIBLE NOTES\t\nLead investor\tConvertible note\t\n"
    )
    assert what("Capitalization_Table_2026_05.csv", rows).kind == "cap_table"
    assert what("Leases.csv", "Tenant\tRent\nAlpha\t500\n").kind is None


def test_a_filing_as_a_page_is_audited_by_its_opinion() -> None:
    opinion = "Report of Independent Registered Public Accounting Firm\nIn our opinion, the statements present fairly"
    assert what("10-K_2022.htm", f"FORM 10-K\nANNUAL REPORT\nFor the year 2022\n{opinion}").kind == AUDITED


@cases("name", ["Audited financial statements.html", "Employment contract.htm", "Lease.html"])
def test_a_page_is_what_its_name_says(name: str) -> None:
    unread, read = document_kind(name).kind, what(name, "Acme Ltd\nThe text of a page.\n").kind
    assert unread == read == document_kind(f"{name}.pdf").kind is not None


@cases(
    ("name", "text"),
    [
        ("Letter before claim.html", "Acme\nWe act for Beta Ltd."),
        ("index.html", "Statement of claim for refund of the price\nBeta Ltd against Acme Ltd"),
        ("Summary of the statement of claim.pdf", "Statement of claim\nBeta Ltd against Acme Ltd"),
        ("Statement of claim.pdf", "Share purchase agreement\nbetween Beta Ltd and Acme Ltd"),
    ],
)
def test_a_document_may_be_what_its_name_or_its_text_says(name: str, text: str) -> None:
    assert may_be_any(name, "", read_signs(text, []), {"litigation_letter", "lease"})
    assert not may_be_any(name, "", read_signs(text, []), {"board_minutes"})


def test_what_is_kept_from_models_may_be_told_by_a_title_that_only_speaks_of_it() -> None:
    signs = read_signs("Legal opinion overview\n", [])
    assert document_kind("a.pdf", "", signs).kind is None
    assert may_be_any("a.pdf", "", signs, {"legal_opinion"})
    assert may_be_any("Legal opinion analysis.docx", "", read_signs("We advise.", []), {"legal_opinion"})


def test_a_user_may_ask_by_names_that_titles_need_a_second_word_for() -> None:
    asked = (
        "the signed subscription agreement",
        "standard terms",
        "Vergleich mit Beta",
        "ISO 9001",
        "minutes",
        "claim",
    )
    kinds_asked = [kind and kind.id for kind, _ in map(parse_asked_kind, asked)]
    assert kinds_asked == ["investment_agreement", "terms_and_conditions", "settlement_agreement", None, None, None]


def test_a_link_to_the_contents_is_no_table_of_them() -> None:
    assert (
        what("d424b5.htm", "424B5\n1\nd424.htm\nTable of Contents\nFiled under a rule\nPROSPECTUS").kind == "prospectus"
    )


def test_a_heading_in_the_notes_of_accounts_is_no_agreement() -> None:
    notes = f"{'Notes. ' * 80}\nLoan agreement\nThe loan between the company and the bank is due in 2027.\n"
    accounts = what("fs.pdf", f"Annual accounts 2023\nBalance sheet\nEquity\n{notes}")
    assert (accounts.kind, accounts.holds("loan_agreement")) == ("financial_statements", None)


@cases(
    ("line", "is_part"),
    [
        ("Reading Board meeting minutes.", False),
        ("• Reading Board meeting minutes", False),
        ("Minutes of the board meeting", True),
        ("MINUTES OF THE BOARD MEETING.", True),
    ],
)
def test_what_auditors_did_is_no_part_of_accounts(line: str, is_part: bool) -> None:
    said = (
        "Present: A. Berg, the chairman. The meeting was opened on 4 May 2024. It was resolved to pay. Apologies: none."
    )
    text = f"Annual accounts 2023\nBalance sheet\nEquity\n{'Notes. ' * 80}\n{line}\n{said}\n"
    assert (what("fs.pdf", text).holds("board_minutes") is not None) is is_part


@pytest.mark.parametrize(("opinion", "kind"), [(True, AUDITED), (False, "financial_statements")])
def test_a_districts_financial_report_is_its_accounts(opinion: bool, kind: str) -> None:
    report = "Independent auditor's report\nWe have audited them. In our opinion they present fairly.\n" * opinion
    assert what("audit.pdf", f"Financial Report\nMid-City District\n{report}Balance sheet\nAssets 5,000").kind == kind


def test_an_action_against_a_dismissal_is_no_dismissal() -> None:
    assert what("Kündigungsschutzklage Weber.docx", "Klage\nArbeitsgericht Berlin").kind == "litigation_letter"


def test_the_first_page_of_a_site_is_no_index_by_its_name() -> None:
    assert what("index.html", "Privacy policy\nThe controller is Acme Ltd.").kind == "data_protection_policy"


@cases("title", ["Musterarbeitsvertrag", "Mustermietvertrag", "Musterdarlehensvertrag", "Musterbetriebsvereinbarung"])
def test_a_german_model_contract_is_a_template(title: str) -> None:
    assert [what(f"{title}.docx", "").state, what("f.docx", f"{title}\nzwischen A und B").state] == ["template"] * 2


@cases(
    ("name", "text"),
    [
        ("page.md", "# Viability audit\n\n## Executive summary\nTight.\n\n## 1. Regulatory permits\nTwo are needed.\n"),
        ("sla.md", "SLA and operations checklist\nBins are there"),
        ("bank.txt", "This Agreement, along with any Addendums attached hereto, is in addition to others"),
        (
            "policy.txt",
            "Vendors\n" * 9 + "Send out requests for proposals to at least three,\nby size.\n" + "More\n" * 200,
        ),
        ("Business Continuity Support Matrix.xlsx", "Business continuity risk matrix"),
        ("page.md", "Home\nNews\nClub\nTeams\nContact\nShop\nBudget 2024\nRead more"),
        ("form.pdf", "Salon Rive Gauche\nVeuillez remplir vos coordonnées\nNom\nPrénom"),
    ],
)
def test_sections_and_sentences_name_no_document(name: str, text: str) -> None:
    assert what(name, text, "business-continuity-plan" if name.endswith("xlsx") else "").kind is None


@cases(
    ("text", "state"),
    [
        ("Privacy notice\nContact: [DPO email] / [Phone]\nEffective date: [DD-MMM-YYYY]", "draft"),
        ("Articles of Association\nRegistered office: **[To be determined - Bangkok]**", "draft"),
        ("Privacy policy\nContact: [name redacted], [email protected], [Address](us.html)", None),
        ("Articles of Association\nThe company [Acme] shall, as [the members] decide, [*] do so.", None),
        ("Invoice\nAcme\nTelephone: 01376 570000 Facsimile: 01376 571189", None),
        ("Plan\nArea\tNeed\tBy\nSales\tSigned contract\tJune\nCosts\tNone\tMay\n", None),
    ],
)
def test_what_is_still_to_be_filled_in_makes_a_draft(text: str, state: str | None) -> None:
    assert what("f.txt", text).state == state


def test_a_company_that_is_called_after_a_template_has_signed_none() -> None:
    assert what("f.txt", "Musterholding SE\nVollmacht\nHiermit bevollmächtigen wir Frau Kurz.").state is None


def test_a_document_of_no_kind_has_none() -> None:
    assert what("recipe.txt", "Pancakes\nTwo eggs.") == DocumentKind()


def test_a_picture_may_hide_the_signature_over_an_empty_line() -> None:
    text = f"{LEASE}\nLandlord: ____________\nTenant: ____________"
    assert [what(name, text).state for name in ("lease.docx", "lease.pdf")] == ["unsigned", None]


def test_reports_of_two_years_are_no_versions() -> None:
    text = "What the club received\n" + " ".join(f"item {number} of the fund" for number in range(80))
    members = [member(f"act_{year}.pdf", f"{text}\nRezzato, 30 June {year}\n") for year in (2021, 2022)]
    assert find_families(members) == []
    assert len(find_families([replace(one, name="act.pdf") for one in members])) == 1


def test_versions_are_one_family_with_the_newest_signed_one_in_front() -> None:
    versions = [
        member("Lease v1.docx", f"DRAFT\n{LEASE}\nearlier"),
        member("Lease v2 FINAL (2).docx", f"{LEASE}\nfinal words"),
        member("Lease v2 signed.pdf", f"{LEASE}\nfinal words\n/s/ A. Harbour"),
        member("Copy of Lease v2 signed.pdf", f"{LEASE}\nfinal words\n/s/ A. Harbour"),
        member("NDA.docx", "MUTUAL NON-DISCLOSURE AGREEMENT\n" + "the parties keep secrets " * 30),
    ]
    (family,) = find_families(versions)
    front, others = named(family)
    assert front in {"Lease v2 signed.pdf", "Copy of Lease v2 signed.pdf"}
    assert len(others) == 3
    assert FamilyTie.COPY in others.values()


def test_agreements_of_one_form_with_two_parties_are_two() -> None:
    form = "NON-DISCLOSURE AGREEMENT\n" + " ".join(f"clause {number} of the usual form" for number in range(90))
    assert find_families([member("NDA Delta.docx", form + " Delta"), member("NDA Gamma.docx", form + " Gamma")]) == []
    dated = [form.replace("\n", f"\nmade on {day} May 2024 between A and B\n") for day in (3, 3, 9)]
    (family,) = find_families([member(f"contract_{number}.docx", text) for number, text in enumerate(dated)])
    assert set(named(family)[1]) | {family.front.name} == {"contract_0.docx", "contract_1.docx"}
    engaged = [text.replace("NON-DISCLOSURE AGREEMENT", "ENGAGEMENT LETTER") for text in dated[1:]]
    assert find_families([member(f"contract_{number}.docx", text) for number, text in enumerate(engaged)]) == []
    assert find_families([member("Engagement draft.docx", engaged[0]), member("Engagement signed.docx", engaged[1])])
    assert what("f.docx", "PRO RATA SIDE LETTER\nThe investor may take part.\n").kind is None
    assert what("f.docx", "AMENDMENT NO. 2 TO THE LEASE (PRO RATA RENT)\nbetween A and B\n").kind == "amendment"
    (family,) = find_families([member("NDA draft.docx", f"DRAFT\n{dated[0]}"), member("NDA signed.pdf", dated[2])])
    assert family.front.name == "NDA signed.pdf"


def test_minutes_of_two_meetings_are_two_documents() -> None:
    form = "MINUTES OF A MEETING OF THE BOARD\n" + " ".join(f"item {number} was noted" for number in range(90))
    days = [member(f"Board minutes {day}.docx", f"{form} {day}") for day in ("2024-01-15", "2024-02-15")]
    assert find_families(days) == []


def test_a_copy_is_of_the_kind_that_the_others_are(home: Path) -> None:
    form = " ".join(f"clause {number} on what the parties do" for number in range(90))
    texts = {
        "a.pdf": f"LEASE AGREEMENT\n{form}",
        "a.txt": form,
        "Commentary on our lease.txt": f"Notes of counsel\n{form}",
        "b.txt": "quite another text " * 40,
    }
    with database.writing() as session:
        ids = {
            name: save_text(session, NewText(name, "test-1", Outcome.READ, text=text)).id
            for name, text in texts.items()
        }
    room = room_kinds([IndexedDocument(name, name, "") for name in texts], ids, dict.fromkeys(texts))
    assert [room.kinds[name].kind for name in texts] == ["lease", "lease", None, None]


def test_a_copied_file_stands_behind_the_one_that_it_is_a_copy_of() -> None:
    for copied in ("Lease copy.pdf", "Lease (1).pdf", "Copia di Lease.pdf"):
        (family,) = find_families([member(copied, LEASE), member("Lease.pdf", LEASE)])
        assert family.front.name == "Lease.pdf"


@pytest.mark.parametrize(
    ("names", "heads", "are_one"),
    [
        (("Travel_Rules.pdf", "Gift_Rules.pdf"), ("Travel rules", "Gift rules"), False),
        (("Register Leeds.pdf", "Register York.pdf"), ("Register of Leeds", "Register of York"), False),
        (("AI_Readiness_2025.pdf", "VAT_Details.pdf"), ("Acme AI AI readiness 2025", "Acme AI VAT details"), False),
        (("scan0001.pdf", "Travel_Rules.pdf"), ("Travel rules", "Travel rules"), True),
        (("AR24 print.pdf", "Yearbook.pdf"), ("Yearbook 2024", "Yearbook 2024"), True),
        (("Rules Smith.pdf", "Rules Jones.pdf"), ("Travel rules", "Travel rules"), True),
        (("Rules v1.pdf", "Rules final.pdf"), ("Rules version 1", "Rules final"), True),
        (("Travel.pdf", "Travel rules 2024.pdf"), ("Travel rules", "Travel rules"), True),
        (("Rules.pdf", "Handbook.pdf"), ("Rules and handbook", "Rules and handbook"), True),
        (("Travel.pdf", "Reisen.pdf"), ("Travel rules", "Travel rules of 2024"), True),
        (("Rules draft.pdf", "Rules signed.pdf"), ("Draft rules", "Rules, signed"), True),
        (("Travel.pdf", "Gift.pdf"), ("", ""), True),
    ],
)
def test_texts_of_one_form_under_titles_of_their_own_are_no_copies(
    names: tuple[str, str], heads: tuple[str, str], are_one: bool
) -> None:
    marked = sketch(LEASE)
    form = [
        FamilyMember(name, name, DocumentKind(), None, marked, plain_words(head))
        for name, head in zip(names, heads, strict=True)
    ]
    assert len(find_families(form)) == are_one


def test_two_thousand_near_copies_are_one_family() -> None:
    marked = sketch(LEASE)
    copies = [FamilyMember(str(number), f"{number}.txt", DocumentKind(), None, marked) for number in range(2000)]
    (family,) = find_families(copies)
    assert len(family.others) == 1999


def test_marks_tell_how_much_two_texts_share() -> None:
    assert resemblance(sketch(LEASE), sketch(LEASE + " one more word")) > 0.9
    assert resemblance(sketch(LEASE), sketch("quite another text " * 40)) < 0.1
    assert sketch("too short") == b""


def test_what_is_cited_and_not_there_is_kept() -> None:
    signs = read_signs(
        f"{LEASE}\nas varied by the Facility Agreement dated 4 May 2020 and the plan attached as Schedule 2.", []
    )
    assert [(kind, day or words) for kind, day, words, *_ in signs.cited] == [
        ("loan_agreement", "2020-05-04"),
        (None, "Schedule 2"),
    ]
    text = f"{LEASE}\nThe plan is attached as Schedule 2.\n\n## **SCHEDULE 2** — the plan\n"
    assert not read_signs(text, []).cited  # it is in the document itself, below a heading of Markdown
    text = f"{LEASE}\nThe plan is attached as Exhibit A-2, the budget as Exhibit B.\fEXHIBIT B: BUDGET\n"
    assert [words for _, _, words, *_ in read_signs(text, []).cited] == ["Exhibit A-2"]
    text = f"{LEASE}\nThe budget stays as in Exhibit B-2 (Budget) attached to\nAmendment No. 4.\n"
    assert not read_signs(text, []).cited
    for ours in ("this lease", "and forming part of this Lease", "the present Lease", "it", "our lease", "the Lease"):
        text = f"{LEASE}\nThe budget is in Exhibit B-2 (Budget) attached to {ours}.\n"
        assert [words for _, _, words, *_ in read_signs(text, []).cited] == ["Exhibit B-2"]
    text = f"{LEASE}\nTHE BUDGET IS SET FORTH IN EXHIBIT B-3 ATTACHED HERETO.\n"
    assert [words for _, _, words, *_ in read_signs(text, []).cited] == ["Exhibit B-3"]


@cases(
    ("asked", "kind", "rest"),
    [
        ("audited financial statements", AUDITED, []),
        ("signed lease of premises", "lease", []),
        ("patent licence with Dr. Kessler", "licence_agreement", ["dr", "kessler"]),
        ("podpisana umowa najmu", "lease", []),
        ("signeret ejeraftale", "shareholders_agreement", []),
        ("photographs of the site", None, []),
        ("shareholders' minutes", "shareholder_resolutions", []),
        ("Shareholders' minutes 2024", "shareholder_resolutions", ["2024"]),
        ("procès-verbaux du conseil", "board_minutes", []),
        ("procès-verbaux d'assemblée générale", "shareholder_resolutions", []),
        ("Budget or business plan", "budget", []),
        ("key customer contracts", "customer_contract", []),
        ("list of supplier contracts", "supplier_contract", ["list"]),
        ("audit report", AUDITED, []),
        ("energy audit report", None, []),
        ("press articles", None, []),
        ("patent strategy", None, []),
        ("insurance claims history", None, []),
        ("patent policy", None, []),
        ("trademark agreement", None, []),
        ("key supplier contracts", "supplier_contract", []),
        ("key man insurance policy", "insurance", ["key", "man"]),
        ("termination agreement with the CEO", None, []),
    ],
)
def test_a_question_names_a_kind_and_what_else_it_asks(asked: str, kind: str | None, rest: list[str]) -> None:
    found, other = parse_asked_kind(asked)
    assert ((found.id if found else None), [*other]) == (kind, rest)


def test_a_kind_may_be_asked_for_by_its_title() -> None:
    for kind in kinds().values():
        found, other = parse_asked_kind(kind.title) if kind.title else (kind, ())
        assert found is not None, kind.title
        assert (is_kind(kind.id, found.id), other) == (True, ()), kind.title


@cases(
    ("name", "text", "kind", "state"),
    [
        ("a.docx", FRENCH.format("« Le Client »", "« Conditions Générales »"), "customer_contract", None),
        ("a.docx", FRENCH.format("«Client»", "«Conditions»"), "customer_contract", "template"),
        ("a.docx", FRENCH.format("XXXNOMXXX", "XXXDATEXXX"), "customer_contract", "template"),
        ("a.docx", FRENCH.format("XXXX", "XXXX"), "customer_contract", None),
        ("a.md", FRENCH.format("[conditions](c.md)", "[prix](p.md)"), "customer_contract", None),
        ("a.md", f"PROMISSORY NOTE\n{'The borrower shall pay. ' * 20}\n{BLANKS}", "loan_agreement", "unsigned"),
        ("a.md", f"PROMISSORY NOTE\n{BLANKS}{'The borrower shall pay. ' * 20}", "loan_agreement", "template"),
        ("tilinpaatos_malli.pdf", f"Yhdistyksen tilinpäätösmalli\n{AMOUNTS}", "financial_statements", "template"),
        ("Osakassopimus ja palkitsemismalli.pdf", "Osakassopimus\nAcme Oy ja osakkaat", "shareholders_agreement", None),
        ("vejledning.pdf", f"Regnskab: en vejledning\nIndtægter\nUdgifter\n{AMOUNTS}", None, None),
        ("a.pdf", "Estatuto do Trabalhador\nAssociados. Assembleia geral.", None, None),
        ("a.pdf", "Restricted Stock Purchase Agreement\nbetween A Inc and B", "option_grant", None),
        ("Regnskab2023.pdf", f"Regnskab 2023\nIndtægter\nUdgifter\n{AMOUNTS}", "financial_statements", None),
        ("Budget 2024.pdf", f"Budget 2024\nIndtægter\nUdgifter\nRegnskab 2023\n{AMOUNTS}", "budget", None),
        ("a.md", "# Stanovy\nNázev spolku. Valná hromada. Členství.", "articles", None),
        ("a.txt", "Stanovy ze dne 5. května se mění.", None, None),
        ("a.pdf", "Constitution of Alpha Cooperative Limited\nDirectors.", "articles", None),
        ("notulen-alv-2020.md", "Aanwezig: A, B\n14 oktober 2020", "shareholder_resolutions", None),
        ("a.pdf", "Protokoll der Jahreshauptversammlung 2017\nVorstand. Beirat.", "shareholder_resolutions", None),
        ("KSt-Bescheid 2017.pdf", "Finanzamt\n14.08.2019", "tax_assessment", None),
        ("a.pdf", "Form 990-N\nTax return 2021\nFor review purposes only\n", "tax_return", "draft"),
        ("Mallorca lease.pdf", "Lease\nbetween A Ltd and B Ltd, Mallorca", "lease", None),
    ],
)
def test_what_strangers_rooms_hold(name: str, text: str, kind: str | None, state: str | None) -> None:
    found = what(name, text)
    assert (found.kind, found.state) == (kind, state)


PLAN = "The plan gives options to employees. The board runs it. " * 20
MINUTED = "Present: A, B. Both resolved to rent the hall, to buy two tables for it and to meet again in June."
LINKS = "* [By-law 1](by-laws/1.md)\n* [By-law 2](by-laws/2.md)\n* [Notes](notes.md)\n"


@cases(
    ("name", "text", "kind", "state"),
    [
        ("by-laws.md", f"# By-laws\n\nThis section hosts the by-laws.\n\n{LINKS}", None, None),
        ("by-laws.md", f"# By-laws\n\n{LINKS.replace('](', '](#')}\nThe members elect the board.", "articles", None),
        (
            "statuten.md",
            f"# Statuten\n\nHet bestuur kiest een voorzitter.\n\n{LINKS.replace('y-law', 'ijlage')}",
            "articles",
            None,
        ),
        ("terms.md", "# Terms of use\n\n- [Sales](sales.pdf)\n- [Goods](goods.pdf)\n- [Hosting](host.pdf)", None, None),
        (
            "terms.md",
            "# Terms of use\n\nUse it as it is.\n\n- [Home](index.md)\n- [Shop](shop.md)\n- [Us](us.md)",
            "terms_and_conditions",
            None,
        ),
        ("minutes.txt", f"Board minutes\n4 May 2024\n{MINUTED}\na.pdf\nb.pdf\nc.pdf\n", "board_minutes", None),
        ("minutes.txt", "Board minutes\n\n2024-05-04.pdf\n2024-06-04.pdf\n2024-07-04.pdf\n", None, None),
        ("budget.md", "# Travel budget\n\nWe pay $90 a month. Ask first.\n\nWe decide. The rest is kept.", None, None),
        (
            "budget.md",
            "# Budget\n\nDues bring 900. The hall costs 700. Tea costs 90. The rest is kept.",
            "budget",
            None,
        ),
        ("budget.md", "# Budget 2025\n\nIt was prepared on 4 May 2024.", "budget", None),
        ("regnskab.txt", "Regnskab\n\nDet viser indtægter. Det viser udgifter. Vi fører det. Vi ser det.", None, None),
        ("regnskab.txt", "Regnskab 2023\n\nIndtægter 500\nUdgifter 300\n", "financial_statements", None),
        ("r.pdf", "RECEIPT\n4 May 2024\nDO NOT PAY! This is not a bill.\nTotal paid 52.00\n", None, None),
        ("i.pdf", "INVOICE\n4 May 2024\nPaid by card: this is not a bill.\nTotal 52.00\n", "purchase_order", None),
        ("v.md", f"# 409A Valuation — Company Information Package\n\n{AMOUNTS}", None, None),
        ("v.md", f"# 409A Valuation — Acme Inc.\n\n{AMOUNTS}", "valuation_report", None),
        ("p.md", f"# Equity Incentive Plan\n\n*Adopted by the Board on ____, 2026*\n\n{PLAN}", "option_plan", "draft"),
        ("p.pdf", f"Equity Incentive Plan\nAdopted by the Board on ____, 2026\n{PLAN}", "option_plan", None),
        ("p.md", f"# Equity Incentive Plan\n\n{PLAN}\n\nAdopted by the Board on ____, 2026", "option_plan", None),
        ("p.md", f"# Privacy policy\n\nApproved by: ________ A. Berg\n\n{PLAN}", "data_protection_policy", None),
        ("m.docx", f"Board minutes\n4 May 2024\nAdopted on ____, 2024\nPresent: A, B\n{PLAN}", "board_minutes", None),
    ],
)
def test_what_leads_to_explains_or_prepares_a_document_is_none(
    name: str, text: str, kind: str | None, state: str | None
) -> None:
    found = what(name, text)
    assert (found.kind, found.state) == (kind, state)


def test_a_line_of_a_table_of_contents_begins_no_document() -> None:
    text = f"Covenants\n{'The board shall keep it. ' * 200}\nInsurance Policy 10\nCasualty Losses 12\n{POLICY}"
    assert what("covenants.pdf", text).holds("insurance") is None
    assert what("covenants.pdf", text.replace(" 10\n", "\n").replace(" 12\n", "\n")).holds("insurance") is not None


def test_the_catalogue_refers_to_kinds_that_it_has() -> None:
    for kind in kinds().values():
        assert {*kind.lesser, *filter(None, [kind.wider])} <= kinds().keys()
    assert is_kind("insurance_cyber", "insurance")


@cases(
    ("text", "day"),
    [
        ("Minutes of the board\nPorto, 4 February 2025\n\nThe board met.\n", "2025-02-04"),
        ("Customer\tSince\tChurn\nAlpha\t1 March 2022\t2 %\n", None),
        ("Insurance in force\n\nLiability   Lusitana   EUR 1,000,000   renewal 1 July 2025\n", None),
        ("Sprint summary\nJanuary 26 - February 9, 2026\n", None),
        ("Concerts\nMarch - June 2017\n", None),
        ("München\n" + "What it received.\n" * 9 + "München, den 3. Mai 2021\n\n\nDer Vorstand\n", "2021-05-03"),
        ("Rezzato\n" + "What it received.\n" * 9 + " Rezzato, 30 giugno 2022 La Presidente\n", "2022-06-30"),
        ("Rezzato, Rezzato\n" + "What it received.\n" * 9 + "Rezzato, 30 giugno 2022\n", "2022-06-30"),
        ("Berlin, Berlin\n" + "What it sells.\n" * 9 + "Next meeting\nBerlin, 3. Juli 2027\n", None),
        (
            "In Berlin\n" + "What it is about.\n" * 9 + "Berlin, 3. Juli 2021\nChairman: A. Berg\nSpeakers: B. Kurz\n",
            None,
        ),
        ("In Berlin\n" + "What it is about.\n" * 9 + "Next meeting\nBerlin, 3. Juli 2097\nThe chairman\n", None),
        ("Founded in Berlin\n" + "What it sells.\n" * 9 + "Berlin, 3. Juli 1998\nMore to come\n", None),
        ("Who was\n" + "What he did.\n" * 9 + "Born, 4 May 1970\nChairman\n", None),
        ("Lease of Rezzato\n" + "What the tenant pays.\n" * 9 + "Rezzato, 30 giugno 2022\nSigned\n", None),
        ("Einladung zur Versammlung\nMünchen, 20. Juni 2024\n", None),
        ("Invitation to tender\n4 May 2024\n", "2024-05-04"),
        ("Einladung an alle\nMontag, 3. Mai 2021\n", None),
        ("Trial balance\nDE 01/01/2025 A 31/01/2025\n", None),
        (
            "AMENDMENT NO. 1\nOriginal Agreement Date: May 3, 2021\nAmendment No. 1 Effective Date: June 4, 2022",
            "2022-06-04",
        ),
        ("LEASE\nEffective Date:\t2022-10-13\nExpiration Date:\t2025-10-12\nLandlord:\tA\n", "2022-10-13"),
        ("LEASE\nDated 1 March 2024, registered at Companies House\n", "2024-03-01"),
        ("LEASE\nFait à Paris le 1 mars 2024 (loi du 6 juillet 1989)\n", "2024-03-01"),
        ("Minutes of the board of Oak Incorporated on March 1, 2024\n", "2024-03-01"),
        ("Dichiarazione\nai sensi degli articoli 46 e 47 del D.P.R. 28.12.2000, n. 445\n", None),
        ("Summary\nCalifornia single-member LLC, formed 2026-01-27\n", None),
        ("AMENDMENT\nThis amendment amends the lease made on May 3, 2021 between A and B.", None),
        ("GUARANTY\nThis guaranty of the lease made on May 3, 2021 is given on June 4, 2022.", None),
        ("LEASE\nThis lease replaces the lease made on May 3, 2021 between A and B", None),
        ("LEASE\nThis lease between A and B ends where the plan was made on May 3, 2021.", None),
        ("LEASE\nWHEREAS the plan was made on May 3, 2021, this lease is between A and B.", None),
        ("From: A\nTo: B\nDate: 2024-05-03T09:20:00Z\nSubject: Visit on 2 April 2023\n\nHello", "2024-05-03"),
    ],
)
def test_a_date_at_the_top_dates_a_document_and_one_in_a_table_does_not(text: str, day: str | None) -> None:
    assert what("a.txt", text).date == day


BELEID = "Dit beleid geldt voor al onze medewerkers. Dit beleid is voor iedereen."


@cases(
    ("name", "text", "kind"),
    [
        ("f.pdf", "Insurance Claims History 5 Years\nThe insurer paid the insured; premium and cover follow.", None),
        ("f.pdf", "MERIDIAN MUTUAL INSURANCE\nFirst Notice of Loss\nInsured: Acme. The policy covers it.", None),
        ("Insurance.pdf", "MERIDIAN MUTUAL INSURANCE\nInsured: Acme. Premium: EUR 5. Policy period: 2024", "insurance"),
        ("Board_Pack_Readiness_Notes.pdf", "", None),
        ("f.pdf", "ANNUAL REPORTS SUMMARY\nAll companies", None),
        ("f.pdf", "VC Term Sheet Mastery 2024", None),
        ("f.pdf", "Review of the annual report 2024", None),
        ("f.pdf", "Board Review of Annual Accounts", None),
        ("f.md", "# Executive Summary: Shareholder Agreement Review\nNot ready to sign", None),
        ("f.pdf", "Financial Statements Review Report 2024", "financial_statements"),
        ("NDA.docx", "Non-Disclosure Agreement\nThis policy applies to all. Staff keep to this policy.", None),
        ("NDA.docx", "Non-Disclosure Agreement\nThe agreement binds both. See this report, and this report.", "nda"),
        ("f.pdf", "Rules\n" + "Text.\n" * 20 + "Notice of termination\nA notice is in writing.", None),
        ("statute.html", "Statuto | Acme\nStatuto\nConsulta il documento in PDF.", None),
        ("statute.html", "Statuto | Acme\nStatuto\nSenza scopo di lucro. L'assemblea elegge.", "articles"),
        ("corp-board-resolution-vehicle-lease.pdf", "", "board_resolution"),
        ("Tax return lease agreement.pdf", "", "lease"),
        ("Shareholders agreement review copy.pdf", "", "shareholders_agreement"),
        ("Shareholders agreement draft for review.pdf", "", "shareholders_agreement"),
        ("Cap table overview.pdf", "", "cap_table"),
        ("Legal opinion memorandum.pdf", "", "legal_opinion"),
        ("Amendment to process services agreement.pdf", "", "amendment"),
        ("Amendment procedures.pdf", "", None),
        ("f.pdf", f"HUUROVEREENKOMST\n{BELEID}\nDeze huurovereenkomst eindigt in 2026.", "lease"),
        ("f.pdf", f"HUUROVEREENKOMST\ntussen Acme B.V. en Beta B.V.\n{BELEID}", "lease"),
        ("f.pdf", f"HUUROVEREENKOMST\n{BELEID}", None),
        ("pen.md", "# Penetration testing policy\nThis policy sets out when we test.", None),
        ("f.md", "# Relatório de análise\nBalancete 2025 análise", None),
        ("f.md", "# Acme Financial Model Walkthrough\nAll is explained.", None),
        ("f.pdf", "Acme annual report 2024: strategy, governance\nOur year", "annual_report"),
        ("f.pdf", "WHO annual report 2023", "annual_report"),
        ("statuten-analyse.md", "# Statuten van Acme B.V.\nHet bestuur en de aandeelhouders.", None),
        ("Summary cap table.xlsx", "", "cap_table"),
        ("f.xlsx", "Parameter-Analyse & Vergleich\nzwischen den Parteien", None),
        ("f.docx", "Standard Terms\nThe parties agree on a restrictive covenant.", None),
        ("f.pdf", "Budget vs actual\nSales 2024", "management_accounts"),
        ("f.pdf", "SUBSCRIPTION AGREEMENT\nbetween Provider and Customer on monitoring", None),
        ("f.pdf", "SUBSCRIPTION AGREEMENT\nThe Investor pays the Issuer", "investment_agreement"),
        (
            "f.pdf",
            "Subscription agreement\nThe Subscriber subscribes for 5,000 shares at EUR 1.",
            "investment_agreement",
        ),
        ("f.pdf", "Vergleich\nzwischen A und B\nZur Beilegung des Rechtsstreits", "settlement_agreement"),
        ("f.txt", "Annual report 2023\nArticles of association\nLease agreement\nLoan agreement\n", "index"),
        ("page.html", "Trial balance\n{% for account in accounts %}\n{% if account %}", None),
        ("ISO 27001.docx", "ISO 27001\nINTRODUCTION:\nISO 27001 is an internationally recognised standard.", None),
        ("ISO 27001.pdf", "ISO 27001\nThis certifies that Acme is certified. Valid until 2027.", "certificate"),
        ("VAPT.docx", "PENETRATION TESTING\nPT stands for penetration testing. It finds weaknesses.", None),
        ("Writing an IT Policy.docx", "WRITING IT POLICIES\nSpecify the purpose.", None),
        ("f.docx", "Document-1: Master Services Agreement (Acme & Beta)\nObligations\nRisks", None),
        ("f.pdf", "Encaminhamento da prestação de contas\nVimos encaminhar.", None),
        ("f.pdf", "Demonstrações contábeis\nAtivo circulante", "financial_statements"),
        ("corp-lease-guarantee.pdf", "", "guarantee"),
        ("f.md", "# Invoice API\nIt has three calls.", None),
        ("f.md", "For terms of use, see the site", None),
        ("f.pdf", "Cap Table Summary\nAcme Ltd", "cap_table"),
        ("Employment_Contract_Strategy_Director.pdf", "", "employment_contract"),
        ("Invoice_Software_AG_2024.pdf", "", "purchase_order"),
        ("f.pdf", "Bank of Ireland Annual Report", "annual_report"),
        ("f.pdf", "Insurance policy claims made basis", "insurance"),
        ("f.pdf", "Annual Report Guidance Software Inc\n2024", "annual_report"),
        ("f.pdf", "Annual Report Acme Ltd Summary\n2024", None),
        ("f.pdf", "Van Dijk Holding jaarrekening 2023", "financial_statements"),
        ("f.pdf", "On Running AG Annual report 2023", "annual_report"),
    ],
)
def test_a_noun_around_a_kind_makes_a_line_about_it(name: str, text: str, kind: str | None) -> None:
    assert document_kind(name, "", read_signs(text, []) if text else None).kind == kind


@cases(
    ("name", "text", "kind"),
    [
        ("config.md", "# Invoice\n```python\ninvoice.total\n```", None),
        ("README.md", "# Balance sheet, profit and loss\nFinancial statements\nEquity and assets", None),
        ("invoice.pdf", "Invoice\npip install is on page 3", "purchase_order"),
        ("support.html", "Acme\nWrite to us\n• Privacy Policy\n•\n• Cookie Policy", None),
        ("page.md", '---\nsection: "company overview"\ntitle: "Mutual NDA"\n---\nThe parties agree.', "nda"),
        ("rule.txt", "---\nLEASE AGREEMENT\nAcme lets to Beta", "lease"),
        ("report.md", "# Export Audit Report\nThe balance sheet, income statement and cash flow are exported.", None),
        ("f.pdf", "4\nCONTRATO\nDE PRESTAÇÃO DE SERVIÇOS\nDe um lado A, de outro lado B", "customer_contract"),
        ("f.pdf", "Handbuch\n1. Jahresabschluss ............ 3\n2. Drucken ............ 4", None),
        ("Licence.md", "# Software licence agreement\nbetween A and B\n`pip install acme`", "licence_agreement"),
        ("lease.md", "# Lease agreement parser\nIt tells between A and B\n`pip install acme`", None),
        ("Requirements.pdf", "Architecture\nLoan agreement\nbetween A and B", "loan_agreement"),
        ("architecture.md", "# Architecture\nLoan agreement\nof the parser", None),
    ],
)
def test_a_page_about_software_is_of_no_kind_and_a_title_may_run_over_two_lines(
    name: str, text: str, kind: str | None
) -> None:
    assert what(name, text).kind == kind


@cases(
    ("text", "state"),
    [
        ("# Règlement intérieur\nd’actions, de projets, d’initiatives très diverses.\n", None),
        ("Lease agreement\nDraft for discussion.\n", "draft"),
        ("Lease agreement\nDRAFT\n", "draft"),
        ("---\ntitle: Lease agreement\nstatus: draft\n---\nThe tenant pays.", "draft"),
        ("---\nTitle: Lease agreement\nState: draft\n---\nThe tenant pays.", "draft"),
        ("Lease agreement\nDraft of 5 May 2024, not yet agreed.\n", "draft"),
        ("Bail commercial\nProjet soumis à la discussion des parties.\n", "draft"),
        ("Template for use with all suppliers.\nNon-disclosure agreement\n", "template"),
        ("Lease agreement\nAgreed on the draft of the landlord.\n", None),
    ],
)
def test_a_sentence_at_the_top_says_nothing_of_the_state_unless_it_begins_with_it(text: str, state: str | None) -> None:
    assert what("f.md", text).state == state


@cases(
    ("name", "text", "kind"),
    [
        ("f.pdf", "Audit Report\nAcme Token\nWe have audited the smart contract. In our opinion it is safe.", None),
        ("f.pdf", "Audit Report\nWe have audited the balance sheet.", "audited_financial_statements"),
        ("f.pdf", "Board meeting pack\nThe board and directors. In attendance. It was resolved.", None),
        ("f.pdf", "THE CONSTITUTION OF INDIA\nThe President of India. Membership of the House. Directors", None),
        ("f.md", "# Retry policy\nThe purpose and scope of retries. This policy applies to buckets.", None),
        ("RFI Ltd lease.pdf", "Lease\nRFI Ltd (landlord) and B Ltd (tenant)", "lease"),
    ],
)
def test_a_name_of_many_things_is_that_of_a_kind_only_with_what_that_has_to_say(
    name: str, text: str, kind: str | None
) -> None:
    assert what(name, text).kind == kind


@cases(
    ("behind", "kind"),
    [
        ("between A and B", "loan_agreement"),
        ("Employment contract\nLease", None),
        ("The choice is between A and B", None),
    ],
)
def test_a_title_below_a_letterhead_is_that_of_an_agreement_whose_parties_follow(behind: str, kind: str | None) -> None:
    head = "\n".join(f"Head {letter}" for letter in "ABCDEFGHIJ")
    assert what("scan1.pdf", f"{head}\nLOAN AGREEMENT\n{behind}").kind == kind


EXPLAINED = "It tells what a company owns and owes, and who gave the money, on the last day of the year. " * 18
TABLE = "".join(f"Item {number}\t1,{number}00,250\t900,{number}80\n" for number in range(1, 9))
CLAUSES = "The quality of the service is measured each month by those who run it and by all who use it. " * 18


@cases(
    ("name", "text", "kind"),
    [
        ("Balance sheet.pdf", f"Financial statements\nBalance sheet, equity and assets\n{EXPLAINED}", None),
        ("Accounts.pdf", f"Financial statements\nEquity and assets\n{EXPLAINED}{TABLE}", "financial_statements"),
        (
            "Accounts.pdf",
            f"Financial statements\nEquity, 2023, 2024\n{EXPLAINED}Assets 5 7\n" * 9,
            "financial_statements",
        ),
        ("budget.xlsx", f"Annual budget\n{EXPLAINED}in 2025, 2026, 2027, 2028, 2029, 2030, 2031, 2032", None),
        ("BALANCETE.pdf", f"Balancete\n{TABLE}", "management_accounts"),
        ("dvp.pdf", f"Demonstração das Variações Patrimoniais\nReceitas e despesas\n{TABLE}", "financial_statements"),
        ("rozvaha.pdf", f"Rozvaha\nAktiva celkem, vlastní kapitál\n{TABLE}", "financial_statements"),
        ("sla.docx", f"Service level agreement\n{CLAUSES}", None),
        ("sla.docx", f"Service level agreement\nThe parties agree.\n{CLAUSES}", "customer_contract"),
        ("Patent.pdf", f"Patent application\n{CLAUSES}", None),
        ("Patent.pdf", f"Patent application\n4 May 2024\n{CLAUSES}", "patent"),
        ("review-index.md", f"# Review index\n{CLAUSES}", None),
        ("index.pdf", "INDEX OF DOCUMENTS\n1.1 HRB.pdf\n1.2 Satzung.pdf\n2.1 JA2023.pdf\n2.2 BWA.pdf", "index"),
        ("Vertragsliste.xlsx", "".join(f"Mietvertrag Filiale {n}\t{n}.1.2020\n" for n in range(1, 30)), "index"),
        ("list.pdf", f"List of exhibits\nExhibit A\nExhibit B\nExhibit C\n{CLAUSES}", "index"),
        ("hyra.pdf", f"HYRESAVTAL\nHyresvärd: A AB\nHyresgäst: B AB\n{CLAUSES}", "lease"),
        ("miet.pdf", f"MIETVERTRAG\nVermieterin: A GmbH\nMieterin: B GmbH\n{CLAUSES}", "lease"),
        ("najem.pdf", f"UMOWA NAJMU\nzwaną dalej Wynajmującym\n{CLAUSES}", "lease"),
        ("msa.pdf", f"MASTER SERVICES AGREEMENT\nA Inc. (the “Company”)\n{CLAUSES}", "customer_contract"),
        ("msa.pdf", f"MASTER SERVICES AGREEMENT\n{CLAUSES}The Customer shall pay.", "customer_contract"),
        ("loan.pdf", f"Loan agreement 借款合同\n甲方：A 乙方：B\n{'借款人应当按期还款。' * 200}", "loan_agreement"),
        ("lease.pdf", f"LEASE\nThe premises.\n{CLAUSES}\n/s/ A. Berg", "lease"),
        ("inv.pdf", f"Invoice\nInvoice date: 04-May-24\n{CLAUSES}", "purchase_order"),
        ("pen.pdf", f"Penetration test report\nMay 2024\n{CLAUSES}", "penetration_test"),
        ("pen.pdf", f"Penetration test report\n{'x y z ' * 2000}\n4 May 2024", "penetration_test"),
        ("ar.pdf", f"ANNUAL REPORT\n{'Revenue rose to $512 million. ' * 9}{CLAUSES}", "annual_report"),
        (
            "cap.xlsx",
            "Cap table\n" + "".join(f"Holder {n} of shares\t{n}.5%\n" for n in range(1, 70)),
            "cap_table",
        ),
        ("ar.pdf", f"Annual report of EX Ltd\n{TABLE}", "annual_report"),
        ("como.pdf", f"Como Calcio bilancio di esercizio\n{TABLE}", "financial_statements"),
        ("fs.pdf", f"Financial statements with auditor's certificate\n{TABLE}", "financial_statements"),
        ("d.pdf", "D&O insurance policy\n4 May 2024", "insurance_directors"),
        ("d.pdf", "Modern slavery policy\n4 May 2024", "code_of_conduct"),
        ("d.pdf", "Penetration testing policy\n4 May 2024", None),
        ("index.md", f"# Data room index\nLease agreement\nLoan agreement\nCap table\n{CLAUSES}", "index"),
        ("app.html", "Annual report\nUpload yours", None),
        ("a.md", "# O que é o balanço patrimonial?\nAtivo circulante e passivo circulante", None),
        ("10-Q_EX-10.2.pdf", "Reseller\nThe parties agree.", None),
    ],
)
def test_a_long_text_without_what_such_documents_cannot_do_without_is_none(
    name: str, text: str, kind: str | None
) -> None:
    assert what(name, text).kind == kind


def test_what_a_program_fills_in_is_a_template() -> None:
    page = "# Privacy policy\n{{company}} (we) runs {{site}}. This privacy policy says what we keep."
    texts = (page, page.replace("{{site}}", "the site"), f"{page}\n/s/ A. Berg")
    assert [what("p.md", text).state for text in texts] == ["template", None, "signed"]


ATTENDED = "Teilnehmer: A. Berg, B. Kurz\n1. Bericht\nProtokollführer: B. Kurz"


@cases(
    ("name", "text", "kind"),
    [
        (
            "MV-2019.md",
            f"Mitgliederversammlung Acme e.V.\n6.6.2019\n{ATTENDED}\nVersammlungsleiter: A. Berg",
            "members_meeting",
        ),
        ("2020.md", f"# 2020-02-04 Vorstandssitzung Acme e.V.\n{ATTENDED}", "board_meeting"),
        ("MV.md", f"Mitgliederversammlung Acme e.V.\n{ATTENDED}", None),
        ("MV.md", f"Anträge zur Mitgliederversammlung\n6.6.2019\n{ATTENDED}", None),
        ("Geschäftsordnung der Mitgliederversammlung.pdf", f"6.6.2019\n{ATTENDED}", None),
        ("AGM.pdf", "Notice of annual general meeting\n6 June 2019\nMembers present form a quorum.", None),
        ("Vorstandssitzung.md", "Vorstandssitzung\n6.6.2019\nTeilnehmer: der Vorstand", None),
        ("MV.md", f"Einladung zur Mitgliederversammlung\n{ATTENDED}", None),
        ("MV.md", "Mitgliederversammlung\nSie findet im Mai statt.", None),
        ("f.docx", "SUBCONTRACT AGREEMENT\nby and between A and B", "supplier_contract"),
        ("chart.pdf", "Group structure chart\nAcme Holding 100 %", "group_structure"),
        ("chart.pdf", "Organisation chart\nChief executive", "org_chart"),
        ("chart.pdf", "Organisation chart with shareholdings\nAcme AG 100 % Acme GmbH", "group_structure"),
        ("chart.pdf", "Organigramm der Gruppe Vertrieb\nA. Berg, Leiter", "org_chart"),
        ("VS.md", f"Vorstandssitzung\n6.6.2019\n{ATTENDED}\nTagesordnung:\nA. wurde gewählt.", "board_meeting"),
        ("VS.md", f"Vorstandssitzung\n6.6.2019\nTagesordnung: 1. Protokollführer wählen\n{ATTENDED}", None),
    ],
)
def test_what_was_done_at_a_meeting_makes_its_minutes(name: str, text: str, kind: str | None) -> None:
    assert what(name, text).kind == kind


def test_signed_in_brackets_is_a_signature_beside_a_name_alone() -> None:
    assert what("f.md", f"{LEASE}\nLandlord:\t(signed) A. Berg\tB. Kurz [signed]").state == "signed"
    for signed in ("B. Kurz (signed)\nTenant", "For the Landlord (signed) A. Berg", "A. Berg (signed), Director"):
        assert what("f.md", f"{LEASE}\n{signed}\nWitness: ______\nDate: ______").state == "signed"
    assert what("f.md", f"{LEASE}\n| Management assertion (signed) | path |\n- Lease (signed)\n").state is None
    for line in ("I have not (signed) it", "Documents received: permission (signed), photo", "A [signed] B [unsigned]"):
        assert what("f.md", f"{LEASE}\n{line}").state is None, line


@cases(
    "name",
    [
        "index-DCdA.css",
        "Lease.js",
        "index.astro",
        ".gitkeep",
        "Dockerfile",
        "vite.svg",
        "calendar.ics",
        "Analysis - Notebook.ipynb",
    ],
)
def test_the_text_of_a_program_is_no_document(name: str) -> None:
    assert what(name, "/* the index */") == DocumentKind()
    assert not may_be_document(name)
    assert what("Service_Agreement_Acme.js", LEASE).kind == "lease"
    assert all(
        map(
            may_be_document,
            ("Group structure chart.svg", "Budget 2025.ipynb", "Terms of Node.js", "lease.ts.pdf", "NDA"),
        )
    )


def test_an_empty_line_behind_signed_by_is_no_signature() -> None:
    for by in ("Signed by", "Unterschrieben von", "Signed", "Signé par", "Firmado por"):
        assert what("f.docx", f"{LEASE}\n{by}: ____________\n{by}: ____________").state == "unsigned", by
    assert what("f.docx", f"{LEASE}\nSigned by: A. Berg\nDate: ____________").state == "signed"


def test_a_heading_with_a_date_is_cited_by_nothing() -> None:
    assert not read_signs(f"{LEASE}\n\nNachtrag vom 03.11.2025\n\nThe rent is higher.\n", []).cited


def test_an_agreement_that_is_named_after_its_filing_has_the_date_of_its_text() -> None:
    opening = "LEASE\nMarch 14, 2012\nbetween Harbour Estates (Landlord) and Northgate (Tenant)"
    assert what("20120322_8-K_EX-10.17.pdf", opening).date == "2012-03-14"
    assert what("2012-03-22 Lease.pdf", opening).date == "2012-03-22"


@cases(
    ("name", "text"),
    [
        (
            "annual_report.md",
            "# Annual reporting\nThe secretary is required to submit one by 28 February.",
        ),
        ("annual_report.md", "# Annual report 2024\nThe secretary is required to submit one.\nFee: £150"),
        ("company_accounts.md", "# Annual accounts\nStatutory accounts must include a balance sheet."),
        ("confirmation_statement.md", "# Confirmation statement\nEach company must file one each year."),
        ("complaints_procedure.md", "# Handling of complaints\nThe procedure is: 1. Issue a complaint."),
        ("STAY AWARE - STAY SAFE.pdf", "STAY AWARE - STAY SAFE\nCarjacking is a crime of opportunity."),
        ("Keeping children safe.docx", "Keeping children safe\nWe look after them."),
        ("Financial report.pdf", "Financial report\nThe treasurer says that we had income of 5,000 and spent 4,000."),
        ("bylaws-investigation.docx", "To do\nPropose bylaws to the president, the treasurer and the membership."),
        ("Report.docx", "Financial report on the grant\nIt paid for assets of 5. Liabilities: none. Balance 3."),
        ("deck.pdf", "Alpha\n12 patents granted worldwide\nTeam"),
        ("a.docx", "12 months patent review\nOur lawyers looked at it."),
        ("talk.pdf", "Cyber attacks and insurance\nA talk in Bonn."),
        ("Report.docx", "Financial Report Q2 2024\nBalance sheet\nProfit and loss, equity"),
        ("insurance questions.txt", "Which policy covers the insured? The insurer and the premium are unknown."),
        ("sms-terms.html", "Acme\nMortgage Technology Platform\nSMS terms"),
    ],
)
def test_what_says_how_a_document_is_made_is_none(name: str, text: str) -> None:
    assert what(name, text).kind is None


@cases(
    "text",
    [
        "Annual accounts\nfor the year ended 31 December 2024\nCash 100\nThe accounts must be filed.",
        "Jahresabschluss zum 31.12.2024\nBilanzsumme 500.000 EUR\nEr ist einzureichen.",
    ],
)
def test_accounts_that_say_where_they_are_filed_are_accounts(text: str) -> None:
    assert what("Accounts.pdf", text).kind == "financial_statements"


def test_a_name_that_ends_in_policy_does_not_replace_the_title() -> None:
    assert what("Policy.pdf", "Code of conduct\nStaff must act.").kind == "code_of_conduct"


def test_a_title_without_what_such_documents_have_still_keeps_it_from_a_model() -> None:
    signs = read_signs("Letter of claim\nDear Sirs, you must file a defence.", [])
    assert (document_kind("a.pdf", "", signs).kind, may_be_any("a.pdf", "", signs, ["litigation_letter"])) == (
        None,
        True,
    )


@cases(
    ("text", "kind", "state"),
    [
        ("# Late Night Policy\nNot currently ratified policy of Acme\nMembers must leave.", "policy", "draft"),
        ("# CCTV Policy and Procedures\nThe purpose is safety of staff.", "policy", None),
        ("Monetary policy\nThe purpose is growth. The members must meet.", None, None),
        ("Retry policy\nClients must retry.", None, None),
        ("Insurance policy\nPremium of the insured: staff must be named.", "insurance", None),
        ("Modern slavery policy\nThe staff must act.", "code_of_conduct", None),
        ("Key person policy\nInsurer: Alpha. Directors are insured. They must pay.", None, None),
        ("Public liability policy\nThe insurer must pay. Employees of the insured", "insurance_liability", None),
        ("Energy policy\nThe purpose of the law: all members must cut emissions.", None, None),
        ("Late night policy\nEmployee handbook\nThe staff must leave.", "employee_handbook", None),
        ("Dividend resolution\nA dividend not yet adopted by the board", "dividend_resolution", None),
        ("Annual report 2024\nStandards not yet adopted by the board", "annual_report", None),
        ("Annual report 2024, not yet adopted by the board\nAcme", "annual_report", "draft"),
        ("Lease\nStatus: to be approved by the board\nbetween A and B", "lease", "draft"),
        ("Financial statements 2024\nNew standards not yet adopted by the EU", "financial_statements", None),
    ],
)
def test_a_policy_is_one_by_its_title_and_what_it_asks_of_whom(text: str, kind: str | None, state: str | None) -> None:
    found = what("page.txt", text)
    assert (found.kind, found.state) == (kind, state)


@cases(
    ("text", "day"),
    [
        ('Works Cited\n"B." Numbeo. N.p., 03 May 2011. Web. 12 May 2017.', None),
        ("Quellen\nMuster, A.: Titel (abgerufen am 4. Mai 2024)", None),
        ("Market report\nSeoul, 1 May 2024\nSmith, J. Title. Accessed 2 June 2024.", "2024-05-01"),
        ("Notes of 3 May 2024 on “Title”, accessed on 4 May 2024", "2024-05-03"),
        ("Memo\n3 May 2024, accessed on 4 May 2024", "2024-05-03"),
        ("Handelsregister B des Amtsgerichts München\nAbgerufen am 03.05.2024 10:00\nHRB 1234", "2024-05-03"),
        ("EXTRAIT KBIS\nwww.example.org, consulté le 3 mai 2024\nAlpha SAS", "2024-05-03"),
        ("Cap table\nAccessed on 3 May 2024\nFounder 60 %", "2024-05-03"),
    ],
)
def test_the_day_on_which_a_source_was_looked_up_dates_no_document(text: str, day: str | None) -> None:
    assert what("page.txt", text).date == day


@cases(
    ("name", "text", "kind"),
    [
        ("codigo_conduta.md", "ACME\nEste documento foi aprovado em 2019.\nTodos devem respeitar.", "code_of_conduct"),
        ("code-conduct-quiz.pdf", "Quiz\nQuestion 1: Who may take gifts?", None),
        ("terms use cases.md", "# Use cases\nThe user opens the page.", None),
        (
            "balance-sheet-2023.pdf",
            f"As of 31 December 2023\nTotal assets 5\nTotal liabilities 4\n{AMOUNTS}",
            "financial_statements",
        ),
        (
            "How to read a balance sheet.md",
            "# How to read a balance sheet\nTotal assets and net income tell a lot.",
            None,
        ),
        ("2024-05-04.md", "# Resolution of the Board of Directors\nResolved to open an account.", "board_resolution"),
        ("resolution.md", "# Resolution of the Board of Directors\nResolved to open an account.", None),
        ("a.md", "Title: Privacy Policy\n\nWe keep your data safe.", "data_protection_policy"),
        ("a.md", "Title: Review of the privacy policy\n\nWe looked at it.", None),
        ("contact.pdf", "CONTACT\nEmail ____________\nPhone ____________", None),
        ("Insurance-register.md", "# Insurance register\nInsurer A, premium 5. Insurer B, premium 6. Cover C.", None),
        ("m.md", "# Morceaux de contrat de prestation\nEntre le client et le prestataire.", None),
        (
            "Board meeting dates.docx",
            "Board meeting dates\n5 March 2024\nCalled to order at 9. Directors present reply.",
            None,
        ),
        ("ata.md", "Ata de 26 de outubro de 2017. Assembleia. Mesa composta por Ana. Presente ata.", "members_meeting"),
        ("Income statement.pdf", "Income statement of a tenant\nTotal income 3,350\nNet income 2,610\nRent 900", None),
        ("balance-sheet-exercise.docx", "Exercise: total assets, liabilities, net income?\n4,000 5,000 6,000", None),
        ("accounts.txt", f"Accounts\nWe look after accounts with total assets of:\n{AMOUNTS}", None),
        (
            "statement of activities.pdf",
            "Statement of activities\nOur assets are people; the directors say thanks.",
            None,
        ),
        ("g.md", "# Generalforsamling\n3. marts 2024 kl. 19\nValg af dirigent og referent. Afbud til formanden.", None),
        ("j.md", "# Jahreshauptversammlung\n3. März 2024\nUnser Dirigent stellt sich vor. Teilnehmer erwünscht.", None),
        ("v.md", "# Vorstandssitzung\n3. März 2024\nReferent: Dr. Klein. Teilnehmer melden sich an.", None),
        ("å.md", "# Årsmøte 2024\n3. mars 2024\nValg av møteleder og referent. Forfall meldes til styret.", None),
        ("b.md", "# Board meeting\n3 May 2024\nAttendees may bring a motion to buy a van. Please join.", None),
        (
            "ga.md",
            "# General Assembly 2024\n3 March 2024. Quorum: 20. Anyone can bring a motion to change things.",
            None,
        ),
        ("m.md", "# Board meeting\n3 May 2024\nAttendees: Ann, Bob\nThe meeting was adjourned at 8.", "board_meeting"),
        ("å.md", "# Årsmøte\n3. mars 2024\nTil stede: Ann, Bo. Møtet hevet kl. 20.", "members_meeting"),
        ("s.md", "# Årsmøte\n3. mars 2024\nAnn ble valgt i fjor. Alle til stede får kake.", None),
        ("n.md", "# Board meeting\n3 May 2024\nJoin us. In attendance last time: 9; the motion carried.", None),
        ("z.pdf", "Zápis do 1. třídy: rady pro rodiče\n5. dubna 2024. Přítomni jsou oba rodiče.", None),
        ("t.pdf", "TERMO DE OUTORGA DE DIREITO DE USO DE RECURSOS HÍDRICOS\nConcede à Fazenda o direito.", None),
        (
            "1. Istanza autorizzazione annuale.pdf",
            "ISTANZA DI AUTORIZZAZIONE\n3 marzo 2024. Il sottoscritto chiede.",
            None,
        ),
        ("ata.pdf", "Manual do disco ATA\nInterface ATA/IDE de 2003. Conecte o cabo.", None),
        ("links.md", "## Statutes\n\n[A](/f/a.pdf)\n\n## Lease\n\n[B](/f/b.pdf)\n\n## Minutes\n\n[C](/f/c.pdf)", None),
    ],
)
def test_names_of_files_and_what_stands_beside_a_title_tell_a_kind(name: str, text: str, kind: str | None) -> None:
    assert what(name, text).kind == kind


def test_the_accounts_of_an_annual_report_may_stand_far_behind_its_beginning() -> None:
    story = "# Annual report 2024\n" + "We planted 1,200 trees with 1,400 guests. " * 300
    assert what("r.md", f"{story}\nTotal assets\t5,000\nTotal liabilities\t4,000\n").holds("financial_statements") == 0
    assert what("r.md", story).holds("financial_statements") is None


def test_the_heading_of_an_article_begins_no_other_document() -> None:
    insured = "Insurance\nThe insurer pays the insured; premium, deductible and cover are set by the board.\n"
    for heading, held in (("ARTICLE XII\n", None), ("Further papers\n", True)):
        by_laws = what(
            "b.pdf", "BYLAWS OF ACME\nThe directors elect. " + "Members meet. " * 40 + f"\n{heading}{insured}"
        )
        assert (by_laws.holds("insurance") is not None) is (held is True)


def test_a_sentence_that_leaves_open_when_something_was_adopted_makes_it_a_draft() -> None:
    closing = "These By-laws were adopted by the board on this ____ day of ______, 2026."
    assert what("b.md", f"# By-laws of Acme\nThe directors elect. {'Members meet. ' * 40}\n{closing}").state == "draft"
    form = "Annex: form of minutes\nThe accounts were approved by the meeting on ______."
    assert what("b.md", f"# By-laws of Acme\nThe directors elect. {'Members meet. ' * 40}\n{form}").state is None


CLAUSES = "\n".join(
    f"{number}. This agreement continues until it is\nterminated in accordance with its terms." for number in range(9)
)


CREDIT = (
    f"DATED 1 MAY 2022\n£3,000,000 REVOLVING CREDIT FACILITY AGREEMENT\nbetween A Ltd and B plc as lender\n{CLAUSES}"
)
MINUTES = (
    "ESK LTD\nMinutes of a meeting of the directors held at 12 Low Street and by video on 18 September 2024 at 9 am"
    "\nA quorum was declared. It was resolved to open an office. The directors approved the budget."
)
PATENT = (
    "(12) UK Patent (19) GB (11) 2577123 (13) B\n(45) 11.05.2022\n(54) Optical encoder\nWhat is claimed is: an encoder."
)
CYBER = "Cyber liability insurance policy\nPolicyholder: A Ltd. Period: 1 May 2024 to 30 April 2025. The insurer pays."
CONTENTS = "REPORT AND ACCOUNTS\n31 DECEMBER 2024\nCONTENTS\nAuditor's report (not attached) 2\nBalance sheet 3\n"
OPINION = (
    "Financial report 2024\nINDEPENDENT AUDITOR'S REPORT\nWe audited the accounts. In our opinion, they are fair.\n"
)


@cases(
    ("name", "text", "kind", "state"),
    [
        ("a.pdf", CREDIT, "loan_agreement", None),
        (
            "a.docx",
            f"SUBSCRIPTION AND INVESTMENT AGREEMENT\nbetween A and B LP\n{CLAUSES}",
            "investment_agreement",
            None,
        ),
        ("a.pdf", MINUTES, "board_minutes", None),
        ("Halle.pdf", f"UNTERMIETVERTRAG\nzwischen A GmbH und B GmbH (Mieter)\n{CLAUSES}", "sublease", None),
        ("a.pdf", PATENT, "patent", None),
        ("a.htm", CYBER, "insurance_cyber", None),
        (
            "commentary on lease.docx",
            "Memo: commentary on the lease of Unit 4\nThe tenant's rent is reviewed.",
            None,
            None,
        ),
        ("Review of shareholders' agreement.docx", "To the board, 5 March 2024. We looked at it.", None, None),
    ],
)
def test_documents_as_they_look_have_their_kind_and_state(
    name: str, text: str, kind: str | None, state: str | None
) -> None:
    found = what(name, text)
    assert (found.kind, found.state) == (kind, state)


@cases(
    ("text", "is_audited"),
    [
        ("Interne Revision\nPrüfungsbericht 2024\nGegenstand: Einkauf. Feststellungen der internen Revision.", False),
        (f"{CONTENTS}{AMOUNTS}", False),
        (f"{OPINION}Balance sheet, assets\n{AMOUNTS}", True),
    ],
)
def test_a_line_that_names_an_auditors_report_is_no_opinion(text: str, is_audited: bool) -> None:
    assert (what("f.pdf", text).holds(AUDITED) is not None) is is_audited


def test_accounts_in_millions_with_one_decimal_have_amounts() -> None:
    rows = "\n".join(f"Line {number}\t{number}61.2\t{number}(55.9)" for number in range(1, 9))
    assert what("f.pdf", f"Half-year report to 30 June 2024\n£m\tH1 2024\tH1 2023\n{rows}").kind == "interim_report"
