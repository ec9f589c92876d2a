"""One module a format, named after its extension; adding a format is adding a module."""
