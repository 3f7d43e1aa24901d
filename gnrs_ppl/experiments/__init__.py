"""The paper's tables and figures, one module each, on one runner; ``registry`` lists them."""
