"""The five operations over HTTP: thin handlers over the same functions that the flows run."""
