"""``gnrs goal``: a goal from a sentence, written into a context file or changed there."""
