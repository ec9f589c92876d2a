"""The evidence beside a report, of a real room on the disk: each link leads to a page on which its words are marked."""

import html
import json
import os
import re
from collections.abc import Sequence
from errno import ENOSPC, EXDEV
from os import strerror
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit
from zipfile import ZIP_STORED, ZipFile

import pytest
from docx import Document as WordDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from openpyxl import load_workbook
from PIL import Image
from pypdf import PdfReader, PdfWriter
from sqlmodel import select

from storage import database, runs, texts
from storage.database import writing
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from storage.texts import SpanPages
from tasks.errors import BadRequest
from tasks.figures.ledger import build_ledger
from tasks.files import Replacing
from tasks.reports import evidence_pages, files
from tasks.reports.company import company_anchor
from tasks.reports.evidence_pages import PART, CitedFor, CitingCompany, EvidencePage, Original, part_at, write_evidence
from tasks.reports.files import make_standalone, render, write_report, write_reports
from tasks.reports.report import build
from tests.tasks.evidence.test_boxes import content
from tests.tasks.reading.pdf import pdfs
from tests.tasks.reports.cited import draw, write_cited_run
from tests.tasks.reports.full_disk import TOLD, room_in_files
from tests.tasks.reports.rows import company
from tests.tasks.reports.test_company_pages import write_many
from tests.web.html_page import Page

NOTICE = "Either party may end the lease by a notice of six months."
RECURRING = "Recurring revenue was 83 % of all revenue."
FIGURES = "Alpha Ltd\nAudited accounts for the year ended 31 December 2024\n\nEUR thousand\t2024\nRevenue\t12,000\n"
QUOTED = {"Accounts <b>.pdf": (RECURRING, "page 1"), "Lease.docx": (NOTICE, "under “Lease”, line 2")}


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A room with a PDF and a Word document, and the run of a company that quotes both."""
    folder = tmp_path / "rooms" / "alpha"
    folder.mkdir(parents=True)
    objects = pdfs.one_page(b"")
    objects[3] = content((72, 700, RECURRING), (72, 660, "Costs fell."))
    (folder / "Accounts <b>.pdf").write_bytes(pdfs.pdf(objects))
    word = WordDocument()
    word.add_heading("Lease", 1)
    word.add_paragraph(NOTICE)
    word.save(str(folder / "Lease.docx"))
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "rooms"))
    write_cited_run("alpha", QUOTED)
    return folder


def quotes_of(folder: Path) -> list[dict[str, Any]]:
    (alpha,) = json.loads((folder / "report.json").read_text())["companies"]
    return [quote for criterion in alpha["criteria"] for quote in criterion["quotes"]]


def dead_links(folder: Path) -> list[str]:
    """Relative links from the report, and from all that it leads to, that lead nowhere."""
    dead: list[str] = []
    seen: set[Path] = set()
    waiting = [(folder / "report.html", "")]
    while waiting:
        path, anchor = waiting.pop()
        if not path.exists():
            dead.append(str(path))
        elif path.suffix == ".html":
            page = Page(path.read_text())
            if anchor and anchor not in page.ids:
                dead.append(f"{path}#{anchor}")
            if path not in seen:
                seen.add(path)
                for link in page.links:
                    if link.startswith("file:"):
                        waiting.append((Path(unquote(urlsplit(link).path)), ""))
                    elif not re.match(r"[a-z]+:", link):
                        target, fragment = urldefrag(link)
                        waiting.append(((path.parent / target).resolve() if target else path, fragment))
    return dead


def test_every_quotation_has_a_page_and_every_link_leads_there(tmp_path: Path) -> None:
    assert draw() == []
    write_reports("r1", tmp_path / "out")
    quotes = quotes_of(tmp_path / "out")
    assert len(quotes) == 2
    for quote in quotes:
        assert f'<a href="{quote["evidence_url"]}">' in (tmp_path / "out" / "report.html").read_text()
    assert dead_links(tmp_path / "out") == []


def test_links_hold_from_figures_in_office_files_and_in_the_archive(tmp_path: Path, room: Path) -> None:
    (room / "Accounts 2024.txt").write_text(FIGURES)
    write_cited_run("alpha", QUOTED, "r2")
    with database.reading() as session:
        (row,) = runs.run_companies(session, "r2")
    assert row.id is not None
    build_ledger(row.id)
    draw("r2")
    out = tmp_path / "out"
    page = Page(write_reports("r2", out).read_text())
    listed = sum(link == (room / "Lease.docx").as_uri() for link in page.links)
    assert sum(link == (room / "Accounts 2024.txt").as_uri() for link in page.links) > listed  # its figures lead there
    with ZipFile(out / "report.zip") as archive:
        archive.extractall(tmp_path / "mailed")
    assert dead_links(out) == dead_links(tmp_path / "mailed" / "report") == []
    for name in ("xlsx", "docx", "pptx"):
        links = office_links(write_report(build("r2"), name, out))
        assert sum(link.startswith("evidence/") for link in links) >= 2, name
        for link in links:
            path, anchor = urldefrag(link)
            if link.startswith("file:"):
                assert Path(unquote(urlsplit(path).path)).is_file(), link
            else:
                assert anchor in Page((out / path).read_text()).ids, link


def office_links(path: Path) -> set[str]:
    """Where the links of an Office file lead to, out of the file."""
    with ZipFile(path) as file:
        parts = [file.read(name).decode() for name in file.namelist() if name.endswith(".rels")]
    found = [re.findall(r"<Relationship [^>]*>", part) for part in parts]
    return {
        html.unescape(target)
        for entry in (entry for entries in found for entry in entries if "/hyperlink" in entry)
        for target in re.findall(r'Target="([^"]*)"', entry)
    }


def test_words_of_a_pdf_are_boxed_on_the_picture_of_their_page(tmp_path: Path) -> None:
    draw()
    write_reports("r1", tmp_path / "out")
    quote = quotes_of(tmp_path / "out")[0]
    (box,) = quote["boxes"]
    assert box["page"] == 1
    assert box["left"] == pytest.approx(72, abs=2)
    (picture,) = (tmp_path / "out" / "evidence").glob("*.png")
    assert picture.stat().st_size < 150_000
    with Image.open(picture) as drawn:
        scale = drawn.width / 612
        grey = drawn.convert("L")
        left, top, right, bottom = (round(scale * box[side]) for side in ("left", "top", "right", "bottom"))
        assert min(grey.crop((left, top, right, bottom)).tobytes()) < 100  # there is print in the box
        assert min(grey.crop((0, 0, 50, 50)).tobytes()) > 250
    page = (tmp_path / "out" / quote["evidence_url"].split("#")[0]).read_text()
    assert f'<rect id="{quote["evidence_url"].split("#")[1]}"' in page
    assert "<b>" not in page  # of the document's name


def test_words_of_other_documents_are_marked_in_their_text(tmp_path: Path) -> None:
    draw()
    write_reports("r1", tmp_path / "out")
    name, anchor = quotes_of(tmp_path / "out")[1]["evidence_url"].split("#")
    page = (tmp_path / "out" / name).read_text()
    assert f'<mark id="{anchor}">{NOTICE}</mark>' in page
    assert f'<a href="../report.html#{company_anchor("alpha.example")}-3">' in page


def test_page_says_how_the_criterion_came_out_and_why(tmp_path: Path) -> None:
    draw()
    write_reports("r1", tmp_path / "out")
    for criterion in json.loads((tmp_path / "out" / "report.json").read_text())["companies"][0]["criteria"]:
        for quoted in criterion["quotes"]:
            page = html.unescape((tmp_path / "out" / quoted["evidence_url"].partition("#")[0]).read_text())
            claim = page.partition('<ul class="claims">')[2].partition("</ul>")[0]
            assert "4 of 5" in claim
            assert criterion["reason"] in claim


def test_writing_again_changes_no_file(tmp_path: Path) -> None:
    draw()
    write_reports("r1", tmp_path / "out")
    files = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "out" / "evidence").iterdir()}
    archive = tmp_path / "out" / "report.zip"
    packed, written_at = archive.read_bytes(), archive.stat().st_mtime_ns
    assert draw() == []
    write_reports("r1", tmp_path / "out")
    assert files == {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "out" / "evidence").iterdir()
    }
    assert (packed, written_at) == (archive.read_bytes(), archive.stat().st_mtime_ns)
    with ZipFile(archive) as whole:
        assert whole.testzip() is None
        assert "report/report.html" in whole.namelist()
        assert [one.compress_type for one in whole.infolist() if one.filename.endswith(".png")] == [ZIP_STORED]


def test_pages_of_a_company_of_which_nothing_changed_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reports("r1", tmp_path)
    (page, other, *_) = sorted((tmp_path / "evidence").glob("*.html"))
    whole = page.read_text()
    with monkeypatch.context() as changed:
        changed.delattr(evidence_pages, "render_page")
        write_reports("r1", tmp_path)
        assert page.read_text() == whole
    page.write_text(whole[:-1])
    other.unlink()
    write_reports("r1", tmp_path)
    assert page.read_text() == whole
    assert other.exists()
    assert dead_links(tmp_path) == []


def test_pages_are_the_same_in_another_run_and_at_another_rank(tmp_path: Path) -> None:
    draw()
    write_reports("r1", tmp_path)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "evidence").iterdir()}
    write_cited_run("alpha", QUOTED, "r2")
    with writing() as session:
        session.add(company("Before it", 0, run_id="r2", total=0.9, coverage=1.0, rank=0))
    write_reports("r2", tmp_path)
    assert [named["name"] for named in json.loads((tmp_path / "report.json").read_text())["companies"]] == [
        "Before it",
        "Alpha",
    ]
    assert before == {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "evidence").iterdir()}
    assert dead_links(tmp_path) == []


def test_of_a_company_that_changed_only_the_pages_that_show_something_else_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reports("r1", tmp_path)
    with writing() as session:
        session.exec(
            select(CriterionOutcome).where(CriterionOutcome.criterion_id == "audited")
        ).one().reason = "It is said otherwise."
    made: list[str] = []

    render = evidence_pages.render_page

    def render_page(company: str, page: EvidencePage, *ways: Any) -> str:
        made.append(page.first.document.name)
        return render(company, page, *ways)

    monkeypatch.setattr(evidence_pages, "render_page", render_page)
    write_reports("r1", tmp_path)
    assert made == ["Lease.docx"]
    (page,) = [path for path in (tmp_path / "evidence").glob("*.html") if "otherwise" in path.read_text()]
    assert NOTICE in page.read_text()


@pytest.mark.parametrize("change", ["", "another"])
def test_an_archive_that_holds_something_else_is_written_again(tmp_path: Path, change: str) -> None:
    draw()
    write_reports("r1", tmp_path / "out")
    archive, page = tmp_path / "out" / "report.zip", "report/report.html"
    with ZipFile(archive) as whole:
        content = whole.read(page)
    with ZipFile(archive, "w") as other:  # without its evidence, or with a page of the same size
        other.writestr(page, content if not change else content[: -len(change)] + change.encode())
    write_reports("r1", tmp_path / "out")
    with ZipFile(archive) as whole:
        assert whole.read(page) == content
        assert len(whole.namelist()) > 1


def test_what_somebody_else_keeps_in_the_folder_stays_and_what_is_cited_no_more_goes(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "evidence"
    folder.mkdir(parents=True)
    (folder / "notes.html").write_text("my own")
    (folder / "0123456789abcdef.html").write_text("of an earlier report")
    write_reports("r1", tmp_path / "out")
    assert (folder / "notes.html").read_text() == "my own"
    assert not (folder / "0123456789abcdef.html").exists()
    with ZipFile(tmp_path / "out" / "report.zip") as archive:
        assert "report/evidence/notes.html" not in archive.namelist()


def test_a_document_that_is_gone_is_shown_by_its_words_and_told(tmp_path: Path, room: Path) -> None:
    (room / "Accounts <b>.pdf").unlink()
    (warning,) = draw()
    assert warning.startswith("Accounts <b>.pdf: its pages are not shown as pictures.")
    write_reports("r1", tmp_path / "out")
    assert dead_links(tmp_path / "out") == []
    name, anchor = quotes_of(tmp_path / "out")[0]["evidence_url"].split("#")
    assert f'<mark id="{anchor}">{RECURRING}</mark>' in (tmp_path / "out" / name).read_text()


def test_what_was_drawn_is_neither_fetched_nor_drawn_again(room: Path) -> None:
    assert draw() == []
    (room / "Accounts <b>.pdf").unlink()
    assert draw() == []


def test_a_document_that_changed_is_not_drawn(room: Path) -> None:
    objects = pdfs.one_page(b"Something else entirely")
    (room / "Accounts <b>.pdf").write_bytes(pdfs.pdf(objects))
    (warning,) = draw()
    assert "changed since" in warning


def test_workbook_and_memo_link_to_the_evidence_beside_them(tmp_path: Path) -> None:
    draw()
    report = build("r1")
    workbook = write_report(report, "xlsx", tmp_path / "out")
    memo = write_report(report, "docx", tmp_path / "out")
    quotes = load_workbook(workbook)["Quotes"].iter_rows(min_row=2)
    links = [row[8].hyperlink.target for row in quotes if row[8].hyperlink is not None]
    footnotes = WordDocument(str(memo)).part.part_related_by(RELATIONSHIP_TYPE.FOOTNOTES)
    sources = [rel.target_ref for rel in footnotes.rels.values() if rel.reltype == RELATIONSHIP_TYPE.HYPERLINK]
    assert links == sources
    assert len(links) == 2
    for link in links:
        name, anchor = str(link).split("#")
        assert f'id="{anchor}"' in (tmp_path / "out" / name).read_text()


def test_evidence_links_to_the_original_on_the_disk(tmp_path: Path, room: Path) -> None:
    write_reports("r1", tmp_path / "out")
    pages = [
        (tmp_path / "out" / quote["evidence_url"].split("#")[0]).read_text() for quote in quotes_of(tmp_path / "out")
    ]
    for page, name in zip(pages, ("Accounts <b>.pdf", "Lease.docx"), strict=True):
        assert f'<a href="{(room / name).as_uri()}"' in page
    listed = Page((tmp_path / "out" / "report.html").read_text()).links
    assert (room / "Lease.docx").as_uri() in listed
    assert not [link for link in listed if link.startswith("http")]
    assert all("/file/d/" in quote["document_url"] for quote in quotes_of(tmp_path / "out"))


def test_evidence_links_to_the_original_whatever_the_root_is_now(
    tmp_path: Path, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    write_reports("r1", tmp_path / "out")
    assert (room / "Lease.docx").as_uri() in Page((tmp_path / "out" / "report.html").read_text()).links


def test_a_document_whose_name_has_255_bytes_and_markup_is_named_boxed_and_linked(tmp_path: Path, room: Path) -> None:
    rest = '<img src=x onerror="alert(1)">&amp; #1?.pdf'
    name = "名" * ((255 - len(rest)) // 3) + rest
    assert 252 < len(name.encode()) <= 255
    long = tmp_path / "rooms" / "long"
    long.mkdir()
    (long / name).write_bytes((room / "Accounts <b>.pdf").read_bytes())
    write_cited_run("long", {name: (RECURRING, "page 1")}, "r2")
    assert draw("r2") == []
    write_reports("r2", tmp_path / "out")
    (quote,) = quotes_of(tmp_path / "out")
    assert dead_links(tmp_path / "out") == []
    page = (tmp_path / "out" / quote["evidence_url"].split("#")[0]).read_text()
    assert f"<h1><bdi>{html.escape(name, quote=False)}</bdi></h1>" in page.replace("&#34;", '"').replace("&#39;", "'")
    assert "<img" not in page
    assert html.escape((long / name).as_uri()) in page
    assert "<rect id=" in page


def test_an_original_that_is_gone_is_not_linked(tmp_path: Path, room: Path) -> None:
    (room / "Lease.docx").unlink()
    write_reports("r1", tmp_path / "out")
    assert dead_links(tmp_path / "out") == []
    page = (tmp_path / "out" / quotes_of(tmp_path / "out")[1]["evidence_url"].split("#")[0]).read_text()
    assert "The document no longer exists." in page


def test_on_a_full_disk_the_report_stands_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_reports("r1", tmp_path / "before")
    first, last = (
        (tmp_path / "before" / quote["evidence_url"].split("#")[0]).stat().st_size
        for quote in quotes_of(tmp_path / "before")
    )
    assert first < last

    def filling_the_disk(
        run: str, companies: Sequence[CitingCompany], folder: Path, original: Original
    ) -> dict[str, str]:
        with room_in_files(last - 1):
            return write_evidence(run, companies, folder, original)

    monkeypatch.setattr(files, "write_evidence", filling_the_disk)
    write_reports("r1", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"could not be written beside the report: {TOLD}." in page
    assert "The evidence of 1 company could not" in caplog.text
    assert [quote["evidence_url"] for quote in quotes_of(tmp_path / "out")] == [None, None]
    assert dead_links(tmp_path / "out") == []
    assert list((tmp_path / "out" / "evidence").iterdir()) == []


def test_of_a_company_whose_text_is_removed_meanwhile_no_page_is_left_and_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "find_texts", lambda *_: [])
    write_reports("r1", tmp_path)
    told = "could not be written beside the report: a cited text is not stored any more."
    assert told in (tmp_path / "report.html").read_text()
    assert list((tmp_path / "evidence").iterdir()) == []


def test_evidence_makes_way_for_the_report_that_says_that_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, room = tmp_path / "out", 600_000
    add = Replacing.add

    def added_on_a_small_disk(self: Replacing, path: str, content: str | bytes) -> None:
        if sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) + len(content) > room:
            raise BadRequest(f"{path} cannot be written ({strerror(ENOSPC)}).")
        add(self, path, content)

    def filling_the_disk(
        _run: str, _companies: Sequence[CitingCompany], folder: Path, _original: Original
    ) -> dict[str, str]:
        (folder / "evidence").mkdir()
        used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        (folder / "evidence" / f"{'0' * 24}-1.png").write_bytes(bytes(room - used - 1_000))  # of another company
        return {"alpha.example": strerror(ENOSPC)}

    monkeypatch.setattr(Replacing, "add", added_on_a_small_disk)
    monkeypatch.setattr(files, "write_evidence", filling_the_disk)
    write_reports("r1", folder)
    page = (folder / "report.html").read_text()
    assert "could not be written beside the report: No space left on device." in page
    assert dead_links(folder) == []
    assert list((folder / "evidence").iterdir()) == []


def test_an_archive_that_has_no_room_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_many("many", 21, days=1)
    out = tmp_path / "out"
    write_reports("many", out)
    page, archive = ((out / name).stat().st_size for name in ("report.html", "report.zip"))
    assert page < archive
    (out / "report.zip").write_bytes(b"of an earlier report")
    with room_in_files((page + archive) // 2):
        write_reports("many", out)
    assert TOLD in caplog.text
    assert sorted(path.name for path in out.iterdir()) == ["companies", "evidence", "report.html", "report.json"]


def test_what_is_known_of_the_folder_is_written_whole_or_leaves_nothing(tmp_path: Path) -> None:
    write_reports("r1", tmp_path / "out")
    (known,) = (database.home() / "reports").iterdir()
    known.unlink()
    known.mkdir()  # nothing can take its place
    write_reports("r1", tmp_path / "out")
    assert list((database.home() / "reports").iterdir()) == [known]


def test_what_a_killed_run_left_half_of_that_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if self.parent.name == "reports":
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            write_reports("r1", tmp_path / "out")
    (left,) = (database.home() / "reports").iterdir()
    monkeypatch.setattr(os, "getpid", lambda: 1)  # the next run is another process
    write_reports("r1", tmp_path / "out")
    assert [file.suffix for file in (database.home() / "reports").iterdir()] == [".json"]
    assert not left.exists()


def test_a_page_that_stands_alone_links_to_the_documents(tmp_path: Path) -> None:
    page = render(make_standalone(build("r1")), "html").decode()
    assert "evidence/" not in page
    assert "file:///" in page
    assert "127.0.0.1" not in page


def test_without_evidence_nothing_is_written_and_no_link_is_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_EVIDENCE", "none")
    assert draw() == []
    write_reports("r1", tmp_path / "out")
    assert not (tmp_path / "out" / "evidence").exists()
    assert [quote["evidence_url"] for quote in quotes_of(tmp_path / "out")] == [None, None]
    assert dead_links(tmp_path / "out") == []


def test_a_picture_beside_the_report_takes_no_room_of_its_own(tmp_path: Path) -> None:
    draw()
    write_reports("r1", tmp_path / "out")
    (picture,) = (tmp_path / "out" / "evidence").glob("*.png")
    assert picture.samefile(next((database.home() / "evidence").glob("*/*.png")))


def test_a_picture_is_copied_to_a_folder_on_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_another_disk(_source: Path, _target: Path) -> None:
        raise OSError(EXDEV, strerror(EXDEV))

    monkeypatch.setattr(os, "link", on_another_disk)
    draw()
    write_reports("r1", tmp_path / "out")
    (picture,) = (tmp_path / "out" / "evidence").glob("*.png")
    (drawn,) = (database.home() / "evidence").glob("*/*.png")
    assert not picture.samefile(drawn)
    assert picture.read_bytes() == drawn.read_bytes()
    assert dead_links(tmp_path / "out") == []


def test_criteria_that_came_out_the_same_for_the_same_reason_share_a_line() -> None:
    page = EvidencePage("e", [])
    page.claims = [CitedFor("A", "a", "unscored", "No model."), CitedFor("B", "b", "4 of 5", "It is said.")]
    page.claims.append(CitedFor("C", "c", "unscored", "No model."))
    assert [[claim.label for claim in claims] for claims in page.grounds] == [["A", "C"], ["B"]]


def test_words_of_a_pdf_beside_its_pages_say_so(tmp_path: Path, room: Path) -> None:
    reader, writer = PdfReader(room / "Accounts <b>.pdf"), PdfWriter()
    writer.append(reader)
    writer.add_outline_item(title="Claims of 2024", page_number=0)
    writer.write(room / "Claims.pdf")
    write_cited_run(
        "alpha", {"Claims.pdf": ("Claims of 2024", "line 3"), "Accounts <b>.pdf": QUOTED["Accounts <b>.pdf"]}, "r2"
    )
    draw("r2")
    write_reports("r2", tmp_path / "out")
    of_outline, of_page = (
        (tmp_path / "out" / quoted["evidence_url"].split("#")[0]).read_text() for quoted in quotes_of(tmp_path / "out")
    )
    assert "These words are not on a page of the PDF" in of_outline
    assert "<svg" not in of_outline
    assert "no page of the PDF" not in of_page


def test_where_the_place_is_not_certain_the_page_is_shown_with_the_quote_above_it(tmp_path: Path) -> None:
    draw()
    with writing() as session:
        (span,) = session.exec(select(SpanPages))
        span.pages = [each | {"boxes": []} for each in span.pages]
        session.add(span)
    write_reports("r1", tmp_path / "out")
    page = (tmp_path / "out" / quotes_of(tmp_path / "out")[0]["evidence_url"].split("#")[0]).read_text()
    said, picture = page.index("is uncertain, so they are not boxed"), page.index("<svg")
    assert said < page.index(f"<blockquote><bdi>{RECURRING}</bdi></blockquote>") < picture
    assert "<rect" not in page


def test_pages_lead_to_the_places_before_and_behind_and_say_whose_view_they_are(tmp_path: Path) -> None:
    draw()
    report = write_reports("r1", tmp_path / "out")
    first, second = (tmp_path / "out" / quoted["evidence_url"].split("#")[0] for quoted in quotes_of(tmp_path / "out"))
    assert f'<a rel="next" href="{second.name}">' in first.read_text()
    assert f'<a rel="prev" href="{first.name}">' in second.read_text()
    assert 'rel="prev"' not in first.read_text()
    assert 'rel="next"' not in second.read_text()
    assert "what the account of the run could see" in first.read_text()
    assert "only what the account of the run could see" in report.read_text()


@pytest.mark.parametrize(("which", "boxed"), [("cited", 1), ("all", 2)])
def test_further_passages_are_boxed_where_all_evidence_is_asked_for_and_told_apart_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, boxed: int
) -> None:
    monkeypatch.setenv("DILIGENCE_EVIDENCE", which)
    with writing() as session:
        quoted = session.exec(select(Quote).where(Quote.text == RECURRING)).one()
        outcome = session.get_one(CriterionOutcome, quoted.outcome_id)
        outcome.status, outcome.score = ScoreStatus.UNSCORED, None
        start = quoted.end + 1 if quoted.end else 0
        end = start + len("Costs fell.")
        session.add(outcome)
        values = quoted.model_dump() | {"id": None, "ordinal": 1, "text": "Costs fell.", "start": start, "end": end}
        session.add(Quote(**values))
    draw()
    write_reports("r1", tmp_path / "out")
    pages = [path.read_text() for path in (tmp_path / "out" / "evidence").glob("*.html")]
    (page,) = (page for page in pages if "<svg" in page)
    assert page.count('class="box"') == boxed
    assert page.count("<mark") == 2
    assert f'<rect id="c0-{len(RECURRING)}" class="box"' in page  # the best passage
    assert ("not boxed above belong to another passage" in page) == (which == "cited")
    assert all("belong to another passage" not in other for other in pages if other != page)


def test_a_character_is_in_the_part_whose_last_line_holds_it() -> None:
    text = f"{'a' * (PART - 10)}\n{'b' * PART}\n{'c' * 30}"
    parts = [part_at(text, text.index(letter)) for letter in "abc"]
    assert parts == [1, 2, 3]
    assert part_at(text, len(text) - 1) == 3
    assert part_at("a short text", 5) == 1
