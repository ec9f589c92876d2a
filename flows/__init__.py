"""The work as Prefect runs it: one flow a file, each readable as the summary of what it does."""
