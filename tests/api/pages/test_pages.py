"""The pages of the service: its home, search and questions, and all of it behind a proxy with a path of its own."""

import re
from pathlib import Path

import httpx
import pytest

from storage import database, runs
from storage.runs import RunStatus
from tests.api.pages.conftest import PAGE, QUOTED
from tests.api.test_runs import dead_links
from tests.servers.embeddings_server import EmbeddingsServer
from tests.servers.openai_server import failing
from tests.tasks.reports.cited import write_cited_run
from tests.tasks.reports.rows import company, write_run


def test_home_lists_runs_with_their_ranking_and_leads_to_them(service: httpx.Client, alpha: Path) -> None:
    write_run("r2", [company("<b>Beta</b>")], days=1, batch="Other <i>", status=RunStatus.RUNNING)
    with database.locked("batch Other <i>"):
        page = service.get("/", headers=PAGE).text
        assert page.index("Other &lt;i&gt;") < page.index("Autumn screen")
        assert "<b>Beta" not in page
        assert 'hx-get="/home/runs"' in page  # the list is kept new while a run is under way
        assert "running" in service.get("/home/runs", headers=PAGE).text
    with database.writing() as session:
        runs.finish_run(session, "r2", RunStatus.FINISHED)
    assert "hx-get" not in service.get("/home/runs", headers=PAGE).text
    assert len(page.encode()) < 300_000


def test_every_link_holds_behind_a_proxy_with_a_path_of_its_own(
    service: httpx.Client, alpha: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_BASE_URL", f"{service.base_url}/dd")
    dead, answers = dead_links(service, f"{service.base_url}/dd/")
    assert dead == []
    strayed = [path for path in answers if not httpx.URL(path).path.startswith("/dd/")]
    assert strayed == []
    assert service.get("/dd/runs/latest").headers["location"] == "/dd/runs/r1/report.html"
    assert service.get("/runs/r1/report.html").status_code == 200  # from a proxy that takes its own path away


def test_search_finds_words_and_filters(service: httpx.Client, alpha: Path) -> None:
    found = service.get("/runs/r1/search", params={"q": "notice lease"}, headers=PAGE).text
    assert "<mark>notice</mark>" in found
    assert ">1 passage; 2 documents were searched<" in found
    place = found[found.index("documents/") :].split('"', 1)[0].replace("&amp;", "&")
    assert QUOTED["Lease.txt"][0] in service.get(f"/runs/r1/{place.split('#', 1)[0]}").text
    for filters, count in (({"status": "failed"}, "0 documents"), ({"company": "alpha.example"}, "2 documents")):
        assert count in service.get("/runs/r1/search", params=filters, headers=PAGE).text
    nothing = service.get("/runs/r1/search", params={"q": "<i>pension"}, headers=PAGE).text
    assert "<i>pension" not in nothing


def test_search_gives_passages_with_all_words_first_and_repeated_ones_last(service: httpx.Client, room: Path) -> None:
    folder = room / "alpha"
    folder.mkdir()
    service_terms = "In consideration for the services rendered, on the first business day of each calendar month, "
    texts = {
        "A.txt": "Retainer, retainers and the retainer.",
        "B.txt": "Retainer, retainers and the retainer.",
        "C.txt": "The monthly meeting is held in May.",
        "D.txt": f"{service_terms * 4}a monthly fee is due as a retainer.",
    }
    for name, words in texts.items():
        (folder / name).write_text(f"{words}\n\nEnd of {name}, page by page.\n")
    write_cited_run("alpha", {"D.txt": ("a monthly fee", "line 1")})
    found = service.get("/runs/r1/search", params={"q": "monthly retainer"}, headers=PAGE).text
    hits = re.findall(r"[A-D]\.txt", found[found.index("passages") :])
    assert list(dict.fromkeys(hits))[:3] == ["D.txt", "A.txt", "C.txt"]


def test_search_says_that_there_are_more_passages_than_it_shows(service: httpx.Client, room: Path) -> None:
    (room / "alpha").mkdir()
    terms = "In consideration for the services rendered, a monthly fee is due as a retainer. "
    for number in range(31):
        (room / f"alpha/{number}.txt").write_text(f"{terms}It was agreed with party {number}.\n")
    write_cited_run("alpha", {"0.txt": ("a monthly fee", "line 1")})
    found = service.get("/runs/r1/search", params={"q": "retainer"}, headers=PAGE).text
    assert ">The first 30 passages; 31 documents were searched<" in found


def test_search_finds_by_meaning_where_an_embedding_model_is_set(
    service: httpx.Client, alpha: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = {"q": "premises"}
    assert "None of these documents" in service.get("/runs/r1/search", params=query, headers=PAGE).text
    with EmbeddingsServer() as server:
        monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "m")
        monkeypatch.setenv("DILIGENCE_EMBEDDINGS_URL", server.url)
        found = service.get("/runs/r1/search", params=query, headers=PAGE).text
        server.always(failing(401, "no such key"))
        failed = service.get("/runs/r1/search?q=rented", headers=PAGE).text
    assert "by its meaning" in found
    assert QUOTED["Lease.txt"][0] in found
    assert "are ranked by their words alone" in failed


def test_search_finds_by_meaning_with_the_model_of_this_machine(
    service: httpx.Client, alpha: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "local")
    found = service.get("/runs/r1/search", params={"q": "tenancy cancellation"}, headers=PAGE).text
    assert "are ranked by their words alone" not in found
    assert "by its meaning" in found


def test_rooms_answer_side_by_side_by_quotations_or_say_that_they_are_silent(
    service: httpx.Client, room: Path, alpha: Path
) -> None:
    answer = service.get("/runs/r1/ask", params={"q": "What is the notice of the lease?"}, headers=PAGE).text
    assert QUOTED["Lease.txt"][0] in answer
    assert "✓ verified" in answer
    silent = service.get("/runs/r1/ask", params={"q": "Who insures the satellites?"}, headers=PAGE).text
    assert "The room does not say" in silent


def test_a_run_of_another_reference_leads_to_the_same_pages(service: httpx.Client, alpha: Path) -> None:
    write_cited_run("alpha", QUOTED, "r2", days=1)
    for page in ("review", "search", "ask", "decisions.json"):
        assert service.get(f"/runs/latest/{page}", headers=PAGE).status_code == 200
        assert service.get(f"/runs/none/{page}", headers=PAGE).status_code == 404
