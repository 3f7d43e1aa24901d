"""Records of any format made into a context that works at once; what was guessed is marked and can be
mended.
"""

from gnrs_ppl.importing.run import Imported, import_source

__all__ = ["Imported", "import_source"]
