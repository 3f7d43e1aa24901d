"""Sampling and enumerating rule spaces: moves, Metropolis kernel, chains, exact posterior, traces."""
