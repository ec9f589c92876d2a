"""What documents are: their kinds from a catalogue, their states and dates, and which belong together."""
