"""Documents × questions: what each document of a room says of each column, found without a model where it can be."""
