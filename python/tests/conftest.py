"""What must be said before scipy is imported."""

from __future__ import annotations

import os

# scikit-learn's checks of array API input are skipped without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
