"""Presentations of OpenDocument and their templates, also as one XML file (.odp, .otp, .fodp)."""

from typing import Final

from tasks.reading.odf import document_format

FORMAT: Final = document_format("presentation", (".odp", ".otp", ".fodp"), version="odp-3")
