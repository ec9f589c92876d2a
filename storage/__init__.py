"""What is kept: one file a resource, with its tables and every query on them."""
