"""What GNRS-Bench was frozen from: simulated institutions, hidden norms and their labels (SimPy). No wheel
holds it.

The package reads the frozen files alone; a norm or a scene is read by whoever makes them anew, and by nothing
that drafts a rule.
"""
