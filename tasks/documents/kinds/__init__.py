"""What documents are: their kinds, as the catalogue has them, their states and dates, and which belong together."""
