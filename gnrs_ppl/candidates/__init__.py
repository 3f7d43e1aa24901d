"""Candidates: hand-made pools read and checked, and the grounding filter."""
