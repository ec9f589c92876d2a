"""The pool of reading processes: each document under limits of time and memory."""
