"""Word documents and templates."""
