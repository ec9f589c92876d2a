"""Google Drive: each user's own view, listed whole and kept up to date."""
