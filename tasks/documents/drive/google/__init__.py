"""Google Drive, as each user sees it."""

from tasks.documents.drive.drive import AccountAccess, DriveDescription
from tasks.documents.drive.google.settings import GoogleDriveSettings

DESCRIPTION = DriveDescription(
    name="google",
    title="Google Drive",
    settings=GoogleDriveSettings,
    provider="tasks.documents.drive.google.drive",
    accounts=AccountAccess(
        provider="Google",
        token="An access token of the caller's Google account with the scope drive.readonly: "  # noqa: S106 - no token
        "document operations on Google Drive act as that account.",
        login="tasks.documents.drive.google.oauth",
    ),
    keeps_changes=True,
    session_check="tasks.documents.drive.google.session_check",
    native_exports={
        "application/vnd.google-apps.document": ".docx",
        "application/vnd.google-apps.spreadsheet": ".xlsx",
        "application/vnd.google-apps.presentation": ".pptx",
        "application/vnd.google-apps.drawing": ".pdf",
    },
)
