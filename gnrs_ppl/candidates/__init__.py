"""Candidates: sources, hand-made pools, the grounding filter, ranking; what a model reads and proposes."""
