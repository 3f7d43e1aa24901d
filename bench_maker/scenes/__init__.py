"""One module per scene family: who is there and what one case looks like."""
