"""Write docs/context-fields.md from the types of context, rule and log.

python tools/context_fields.py
"""

from pathlib import Path

from gnrs_ppl.report.schema import page

(Path(__file__).resolve().parent.parent / "docs" / "context-fields.md").write_text(page(), encoding="utf-8")
