"""What models cost, and what runs may spend on them."""
