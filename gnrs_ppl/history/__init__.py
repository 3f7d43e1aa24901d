"""What audits found, kept run by run: the store, what became of a violation, and whether the records still are
what the rule was grounded in.
"""
