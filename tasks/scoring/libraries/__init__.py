"""Libraries of criteria that come with the program, an area each, to be taken in by `include:`."""
