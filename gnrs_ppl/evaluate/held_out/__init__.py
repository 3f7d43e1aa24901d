"""Held-out truth of GNRS-Bench, frozen: logs of other worlds and the labels hidden norms give them. Only
evaluate/ reads it.
"""
