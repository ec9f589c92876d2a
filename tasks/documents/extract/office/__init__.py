"""What the Office formats share: the package, its XML in one form, drawings and charts, encryption."""
