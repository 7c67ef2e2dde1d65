"""Mergeable sufficient statistics: the only part of the package that touches rows."""

from .cells import curves, rank
from .counts import Counts, count_label_sets, count_labels
from .crossfold import CrossFold, cross_fold
from .curve import Curve
from .measures import RankingMeasures

__all__ = [
    "Counts",
    "CrossFold",
    "Curve",
    "RankingMeasures",
    "count_label_sets",
    "count_labels",
    "cross_fold",
    "curves",
    "rank",
]
