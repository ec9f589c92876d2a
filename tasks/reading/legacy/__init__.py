"""Office documents from before 2007, converted to today's formats by LibreOffice if it is installed."""
