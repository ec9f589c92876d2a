"""Request lists: what a buyer asked for, what the data room has of it, and the lists to send back."""
