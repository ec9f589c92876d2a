"""PowerPoint presentations, shows and templates."""
