"""Office Open XML: what Word, Excel and PowerPoint files share."""
