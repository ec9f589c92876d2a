"""What AI assistants look up in data rooms: stored words, figures and verdicts, each with its place."""
