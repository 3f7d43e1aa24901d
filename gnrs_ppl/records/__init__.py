"""What is in the records, and what is wrong with them or with the context that describes them."""
