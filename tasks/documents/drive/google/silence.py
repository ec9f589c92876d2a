"""Keeps the loggers of Google's libraries quiet: they write addresses, headers, bodies and tokens.

A filter, for a level is set anew by whoever wants to see everything.
"""

import logging

_LOUD = (
    "google_auth_httplib2",
    "googleapiclient.discovery",
    "googleapiclient.http",
    "googleapiclient.model",
    "requests_oauthlib.oauth2_session",
)


def silence() -> None:
    """Let none of their records through; to be called wherever one of these libraries is used."""
    for name in _LOUD:  # a logger's filters do not hold for those below it
        logging.getLogger(name).addFilter(_nothing)


def _nothing(_record: logging.LogRecord) -> bool:
    return False
