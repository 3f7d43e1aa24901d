"""Questions about rules that are written: do two mean the same, do they hold to their examples, whom would
another number hit.
"""
