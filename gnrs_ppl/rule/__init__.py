"""The rule: five typed slots, canonical form, candidates and their pools."""
