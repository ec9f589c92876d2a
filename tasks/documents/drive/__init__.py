"""The Drive seam: where documents lie. One file a drive."""
