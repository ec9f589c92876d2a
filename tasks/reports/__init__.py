"""The report of a run, and a renderer for each format."""
