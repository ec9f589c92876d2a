"""The Drive interface: where documents are kept. One file or folder for each drive."""
