"""What is made of a text's relations: the statements it makes, and what it says of no recorded act."""
