"""`make golden`: what the program reads, finds and says, held against what was recorded before a change."""
