"""Text recognition (OCR): a module for each engine, `recognise` that asks them for one page, `scans` that fills texts.

Readers do not recognise anything: they leave a place of kind `scan` where a page is a picture. `scans.filled` puts what
was recognised there, so that each page is recognised under its own limits and stored by itself.
"""
