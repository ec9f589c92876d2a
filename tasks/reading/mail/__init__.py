"""What all kinds of mail share: the form of their texts, and how the bytes of internet mail become words."""
