"""Documents × questions: what each document of a room says about each column, found without a model where possible."""
