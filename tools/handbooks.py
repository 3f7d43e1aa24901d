"""docs/handbooks.md: two charters as ``gnrs charter`` drafts them, one scene of GNRS-Bench and one document
of RealCharter-Bench.

Run ``python tools/handbooks.py`` (some minutes).
"""

import re
import textwrap
from pathlib import Path

from gnrs_ppl.charter.draft import Charter, draft_charter
from gnrs_ppl.report.charter import charter_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "handbooks.md"
HANDBOOKS = (
    (
        "The restaurant",
        ("GNRS-005", "GNRS-007", "GNRS-008"),
        "The dev goals of the scene *restaurant* of [GNRS-Bench](gnrs-bench.md), whose log is simulated.",
    ),
    (
        "A conduct work group",
        ("RC-PSF-1", "RC-PSF-2", "RC-PSF-3", "RC-PSF-4"),
        "The cards of one public document of [RealCharter-Bench](realcharter-bench.md), in that benchmark's "
        "own words. There is no log: what is said of the records is declared.",
    ),
)
HEAD = """# Two handbooks

What `gnrs charter` makes of the goals of one institution ([how](charters.md)). `python tools/handbooks.py`
makes this page; nobody edited the rules. They are drafts for people to judge, and no legal advice.
"""


def asked(charter: Charter) -> str:
    """What each rule was drafted from."""
    goals = {clause.context.goal.id: clause.context.goal.intent for clause in charter.clauses}
    return "\n".join(f"- {name}: {intent}" for name, intent in goals.items())


def wrapped(line: str) -> str:
    """A line of a page as its lines."""
    head = re.match(r"(- |\d+\. |[A-Z]\. )?", line)
    indent = " " * len(head[0]) if head else ""
    return textwrap.fill(line, 110, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    """Write the page."""
    parts = [HEAD]
    for title, goals, about in HANDBOOKS:
        charter = draft_charter(goals)
        text = charter_text(charter).replace("\n## ", "\n### ").split("\n", 1)[1].strip()
        command = f"    gnrs charter {' '.join(goals)}"
        page = f"{about}\n\n{asked(charter)}\n\n{text}\n"
        told = "\n".join(map(wrapped, page.split("\n")))
        parts.append(f"## {title}\n\n{command}\n\n{told}")
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
