"""Libraries of criteria that come with the program, one for each area, included by `include:`."""
