"""The And-Or Graph as a probabilistic program: features, rule space, energy, and the NumPyro face of the same density."""
