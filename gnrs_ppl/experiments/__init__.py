"""The paper's tables and figures, one module each; none is written yet."""
