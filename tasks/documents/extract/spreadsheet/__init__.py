"""Workbooks: rows scanned as bytes, cells as the sheet shows them, and what stands round them."""
