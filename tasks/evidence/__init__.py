"""Where words stand: a place in a text, traced to the page, rows or paragraphs that a reader can look at."""
