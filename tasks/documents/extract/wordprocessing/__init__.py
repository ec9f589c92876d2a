"""Word documents: their words, the lines these make, and the headings among them."""
