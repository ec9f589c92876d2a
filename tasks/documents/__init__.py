"""Documents in a drive: which there are (index.py) and what they say (text.py)."""
