"""Rules that stand together: how any two of them relate."""
