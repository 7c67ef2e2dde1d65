"""The random experiments and the oracle are those of the aggregations' tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
