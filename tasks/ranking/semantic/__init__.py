"""Ranking by meaning, as an option: the best passages by words are put in order with a sentence-embedding model.

`chosen.semantic_ranking()` is what others call; it gives None where `DILIGENCE_EMBEDDINGS` is not set.
"""
