"""What a run gives its readers: the report's model and one file a format."""
