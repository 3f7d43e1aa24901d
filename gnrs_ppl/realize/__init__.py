"""Structure -> plain institutional English, the reader that leads back to the structure, and sentences for
verdicts.
"""
