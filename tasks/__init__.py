"""What is done: one room an area, each operation a plain function that Prefect can run as a task."""
