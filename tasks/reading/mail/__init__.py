"""What mails of every kind share: how they stand in a text, and how the bytes of the internet's mails become words."""
