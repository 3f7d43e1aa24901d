"""``gnrs serve``: a folder of contexts, rules and audits as a local page. Every file is one that a verb
writes, every piece of work is the verb itself in a process of its own.
"""
