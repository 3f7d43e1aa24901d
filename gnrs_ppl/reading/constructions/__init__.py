"""What the constructions of a text say: its clauses, the acts they name, and the DECLARE constraint each
construction stands for.
"""

from gnrs_ppl.reading.constructions.binding import functional, how_bound, undergone, who_acts
from gnrs_ppl.reading.constructions.parts import spans_of, time_and_people
from gnrs_ppl.reading.constructions.sentence import Sentence
from gnrs_ppl.reading.constructions.text import Constructions

__all__ = [
    "Constructions",
    "Sentence",
    "functional",
    "how_bound",
    "spans_of",
    "time_and_people",
    "undergone",
    "who_acts",
]
