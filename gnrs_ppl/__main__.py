"""``python -m gnrs_ppl`` is ``gnrs``."""

from gnrs_ppl.cli import main

main()
