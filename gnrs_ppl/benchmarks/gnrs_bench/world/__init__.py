"""The simulated institutions behind GNRS-Bench (needs SimPy; only the generator runs it)."""
