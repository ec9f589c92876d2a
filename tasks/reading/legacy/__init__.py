"""Documents of Office before 2007, turned into today's formats by LibreOffice where it is installed."""
