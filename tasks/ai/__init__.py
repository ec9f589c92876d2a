"""Questions to a language model, or to none: the Answerer seam, one file an answerer."""
