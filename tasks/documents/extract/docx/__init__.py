"""docx."""
