"""Questions to a language model, or to none: the Answerer interface, with one file for each implementation."""
