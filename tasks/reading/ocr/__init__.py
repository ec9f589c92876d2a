"""Text recognition (OCR): pages rendered by PDFium and read by Tesseract."""
