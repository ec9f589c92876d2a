"""Companies: facts with their origin (facts.py) and questions about one (question.py)."""
