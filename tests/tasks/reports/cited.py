"""A run that quotes documents which really lie in the drive and were really read."""

from collections.abc import Mapping
from typing import Any

from storage import database, documents, runs, texts
from storage.scores import Quote, ScoreStatus
from tasks.documents.drive.registry import drive_to_open_again, open_drive
from tasks.documents.texts import document_text
from tasks.evidence.company import draw_evidence
from tests.tasks.reports.rows import company, document, outcome, write_company, write_run

CRITERIA = ("recurring", "audited", "established")


def write_cited_run(folder: str, quoted: Mapping[str, tuple[str, str]], run_id: str = "r1", **fields: Any) -> None:
    """Keep a run of the company Alpha, whose room is `folder`.

    `quoted` gives, by a document's name, the words that a criterion of its own quotes, and their place.
    """
    drive = open_drive()
    folder_id = drive.find_folder(folder)
    alpha = company("Alpha", total=0.5, coverage=1.0, rank=1, folder_id=folder_id)
    write_run(run_id, [alpha], drive=drive_to_open_again(), **fields)
    listed, quotes = [], {}
    for found in drive.list_folder(folder_id, recursive=True).documents:
        text = document_text(found.id).text
        with database.reading() as session:
            content = documents.find_contents(session, drive.name, [found.id])[found.id]
            text_id = next(iter(texts.find_summaries(session, [content.content_hash]).values())).id
        listed.append(
            document(found.id, content.content_hash, name=found.name, path="", url=found.url, text_id=text_id)
        )
        if found.name in quoted:
            words, place = quoted[found.name]
            start = text.index(words)
            quotes[found.name] = Quote(
                outcome_id=0,
                ordinal=0,
                text=words,
                verified=True,
                document_id=found.id,
                document_name=found.name,
                document_url=found.url,
                place=place,
                text_id=text_id,
                start=start,
                end=start + len(words),
            )
    scored = [
        (
            outcome(
                criterion,
                4,
                ScoreStatus.SCORED,
                reason=f"It is said: {quotes[name].text}",
                given=[quotes[name].document_id],
            ),
            [quotes[name]],
        )
        for criterion, name in zip(CRITERIA, quoted, strict=False)
    ]
    write_company(run_id, "alpha.example", documents=listed, outcomes=scored)


def draw(run_id: str = "r1") -> list[str]:
    """Draw the evidence of the run's first company, as a run does."""
    with database.reading() as session:
        company_id = runs.run_companies(session, run_id)[0].id
    assert company_id is not None
    return draw_evidence(company_id)
