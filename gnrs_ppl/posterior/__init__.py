"""A posterior over rules that one can question: pins, the mass of it, P(violated) per case, questions."""
