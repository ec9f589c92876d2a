"""PDFs: PDFium's calls, and what it leaves out or breaks."""
