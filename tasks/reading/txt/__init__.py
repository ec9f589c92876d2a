"""Plain text, and text in other formats."""
