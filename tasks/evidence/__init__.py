"""Where words stand: a place of a text, resolved to the page, rows or paragraphs that a reader can look at."""
