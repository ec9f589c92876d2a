"""The flow `index_folder`: lists a folder of the drive and stores one row for each document."""

from flows.artifacts import flow
from flows.run import list_room_warnings
from storage import database, documents, runs
from tasks.documents.index import index_room


@flow(name="index_folder")
def index_folder(folder: str, recursive: bool = True, company_id: int | None = None) -> int:
    """Index a folder of the drive.

    Args:
        folder: its path under the drive's root, its id or its URL.
        recursive: whether subfolders are indexed too.
        company_id: the company of a run whose data room it is.

    Returns:
        The id of the room, as storage keeps it.

    Raises:
        NotFound: no such folder for the account in force.
    """
    room_id = index_room.tracked(folder, recursive)
    if company_id is not None:
        assign_room(company_id, room_id)
    return room_id


def assign_room(company_id: int, room_id: int) -> None:
    """Assign an indexed room to a company of a run: documents become pending unless they already have an outcome."""
    with database.writing() as session:
        room = documents.get_room(session, room_id)
        company = runs.get_company(session, company_id)
        company.room_id, company.folder_id = room_id, room.folder_id
        listed = documents.room_documents(session, room_id)
        company.warnings = list_room_warnings(room, listed)
        documents.place_documents(session, company_id, listed)
