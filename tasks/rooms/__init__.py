"""Searching and asking a whole data room: its passages, ready for many questions, and answers in its own words."""
