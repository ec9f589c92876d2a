"""Text out of files: one reader a format, and the process pool that runs them. Imports no Prefect."""
