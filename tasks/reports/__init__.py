"""What a run gives its readers: the report of a run, and one module a format."""
