"""pptx."""
