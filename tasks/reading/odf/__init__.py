"""OpenDocument files."""
