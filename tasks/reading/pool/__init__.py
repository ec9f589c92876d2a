"""The process pool that reads documents, each under its own limits."""
