"""Held-out truth of GNRS-Bench: hidden norms over latent simulator state, and the labels they give. Only evaluate/ reads it."""
