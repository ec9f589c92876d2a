"""Presentations of OpenDocument and their templates, also as one XML file (.odp, .otp, .fodp)."""

from typing import Final

from tasks.reading.odf import document_format
from tasks.reading.pptx import FORMAT as PPTX

FORMAT: Final = document_format(
    "presentation", (".odp", ".otp", ".fodp"), version=f"odp-5 by {PPTX.version}", better_with="libsdlo.so"
)
