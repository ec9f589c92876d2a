"""Rooms in the emulated Drive for tests, and listing them as one of its users."""

from tasks.documents.drive.drive import Bearer, Drive, Listing
from tasks.documents.drive.google.drive import open_drive as open_google_drive
from tests.google.items import Item
from tests.google.server import DriveEmulator

ADA, BOB = "ada@example.com", "bob@example.com"


def drive_of(emulator: DriveEmulator, user: str = ADA) -> Drive:
    """The drive as a user sees it who has just logged in."""
    return open_google_drive(Bearer(emulator.token(user)))


def listed(emulator: DriveEmulator, folder: Item, *, user: str = ADA, recursive: bool = True) -> Listing:
    return drive_of(emulator, user).list_folder(folder.id, recursive=recursive)


def names(listing: Listing) -> list[str]:
    """Each document with its folder's path."""
    return sorted(f"{document.path}/{document.name}" for document in listing.documents)
