"""XML: text, workbooks, Word documents and instances of XBRL."""
