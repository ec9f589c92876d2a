"""Excel workbooks and templates, and what binary workbooks share with them."""
