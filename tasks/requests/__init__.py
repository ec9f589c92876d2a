"""Request lists: what a buyer asked for, which of it the data room has, and the lists to send back."""
