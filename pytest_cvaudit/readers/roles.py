"""What columns mean: the names people give to folds, labels, scores and counts, and what a user says about them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import suggestion
from pytest_cvaudit.model import find_metric
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from pytest_cvaudit.errors import Remedy
    from pytest_cvaudit.readers.spec import LogSpec
    from pytest_cvaudit.readers.table import Table

#: Role → names that mean it, compared without case, underscores, hyphens, dots and spaces.
NAMES: dict[str, str] = {
    "fold": "fold foldindex foldid foldidx foldnumber foldnum foldno foldname cvfold cv cvsplit split splitid"
    " splitindex testfold outerfold kfold keyfold resample resampleid",
    "repeat": "repeat rep repetition repeatid repeatindex run runindex keyrun cvrepeat cvrun",
    "id": "id instance instanceid rowid rowids rowindex row index idx sampleid patientid subjectid caseid imageid docid"
    " exampleid inst#",
    "hash": "hash featurehash featureshash xhash rowhash inputhash",
    "set": "set subset partition split phase stage mode dataset datasplit splittype splitname foldtype rowtype",
    "truth": "truth truelabel trueclass true ytrue ytest actual actualclass actuallabel label labels target gold"
    " goldlabel y groundtruth gt reference observed obs correct",
    "predicted": "prediction predictions predicted predictedlabel predictedlabels predictedclass ypred yhat pred preds"
    " predlabel predclass predlabels ypredlabel ypredlabels ypredclass hat output",
    "score": "score scores yscore yscores probability prob proba probs yprob yproba ypredproba predproba oofproba"
    " oofprob oofpred predictionoof oofprediction decision decisionfunction confidence",
    "label": "label class classlabel category",
    "matrix": "confusionmatrix cm confmat confusion confmatrix",
    "tp": "tp truepositives truepositive numtruepositives ntp",
    "fp": "fp falsepositives falsepositive numfalsepositives nfp",
    "fn": "fn falsenegatives falsenegative numfalsenegatives nfn",
    "tn": "tn truenegatives truenegative numtruenegatives ntn",
    "positives": "positives npos npositive npositives npostest numpos numpositives numpositive pos testpositives",
    "negatives": "negatives nneg nnegative nnegatives nnegtest numneg numnegatives numnegative neg testnegatives",
    "n": "n nsamples ntest ntestsamples size testsize count ninstances numinstances numsamples"
    " numberoftestinginstances",
    "metric": "metric metricname measure scorer",
    "value": "value metricvalue score",
    "info": "info error errors exception reason message status note",
}  # fmt: skip
_ALIASES = {role: frozenset(names.split()) for role, names in NAMES.items()}
_PROBABILITY = re.compile(r".+(?:prob|proba|probability)")
#: Words in a name that say that the probability is not that of the positive label, or not of the tested row.
_OF_OTHERS = re.compile(
    r"(?:^|[\W_])(?:neg|negatives?|non|not|no|controls?|healthy|normal|benign|errors?|wrong|train|class[\W_]?0|0|prior)"
    r"(?=$|[\W_])",
    re.IGNORECASE,
)
_CLASS_ROLE = "score_"


@lru_cache(maxsize=1 << 12)
def squashed(name: str) -> str:
    """Bring a column's name into the spelling of the table above."""
    return re.sub(r"[\s_\-.]+", "", name.lower())


def is_named(name: str, *roles: str) -> bool:
    """Tell whether a column's name means one of the roles."""
    return any(squashed(name) in _ALIASES[role] for role in roles)


class Roles:
    """The columns of a table by role; what the user says comes first, and two candidates are never decided between."""

    def __init__(self, table: Table, spec: LogSpec, fold_of_paths: str | None = None) -> None:
        """Check what the user says about the columns; the fold may come from the files' paths if no column tells it."""
        self._table = table
        self.given = dict(spec.columns)
        for role in self.given:
            if role not in NAMES and not role.startswith(_CLASS_ROLE) and find_metric(role) is None:
                known = f"roles: {', '.join(NAMES)}, score_<label>, or a metric"
                raise table.error(f"columns: '{role}' is no role{suggestion(role, NAMES)} ({known})")
        self.metric_name: str | None = None
        for role, column in self.given.items():
            if role == "metric" and column not in table.columns and find_metric(column) is not None:
                self.metric_name = column  # in scikit-learn's cv_results_ no column names the metric
            else:
                table.require(column, f"columns: {{{role}: {column}}}")
        self.taken = taken = {*self.given.values(), *spec.by, *spec.select}
        self.free = tuple(name for name in table.columns if name not in taken)
        #: Where a column tells the fold, the path is free to tell something else.
        self.fold_of_paths = None if self.has("fold") else fold_of_paths

    def candidates(self, role: str) -> list[str]:
        """List the columns that may have a role: the one that the user says, or those of a known name."""
        if role in self.given:
            return [] if role == "metric" and self.metric_name else [self.given[role]]
        found = [name for name in self.free if squashed(name) in _ALIASES[role]]
        if role == "score":
            others = (name for name in self.free if name not in found and _PROBABILITY.fullmatch(squashed(name)))
            found += [name for name in others if not _OF_OTHERS.search(name)]
        if role == "truth" and len(found) > 1:
            # Beside another true label, "correct" can only say whether the prediction was.
            found = [name for name in found if squashed(name) != "correct"]
        return found

    def has(self, *roles: str) -> bool:
        """Tell whether each of the roles has a candidate."""
        return all(self.candidates(role) for role in roles)

    def find(self, role: str) -> str | None:
        """Return the column of a role, or nothing; refuse to choose between two."""
        return self.one(role, self.candidates(role))

    def one(self, role: str, columns: list[str]) -> str | None:
        """Return the only one of the columns, or nothing; refuse to choose between two."""
        if len(columns) > 1:
            raise self.ask(f"columns {listing(columns)} may all be the {role}", role, columns[0])
        return columns[0] if columns else None

    def optional(self, role: str) -> str | None:
        """Return the column of a role if just one has it."""
        found = self.candidates(role)
        return found[0] if len(found) == 1 else None

    def ask(self, problem: str, role: str, example: str) -> Exception:
        """Make the error that asks the user to name a role's column."""
        remedy: Remedy = {} if example == "NAME" else {"columns": {role: example}}
        message = f"{problem}; say which with columns: {{{role}: {example}}} ({self._table.seen()})"
        return self._table.error(message, remedy=remedy)

    def class_scores(self) -> dict[str, str]:
        """Return the score columns that the user gave by label."""
        given = self.given.items()
        return {role.removeprefix(_CLASS_ROLE): name for role, name in given if role.startswith(_CLASS_ROLE)}

    def used(self, *roles: str) -> list[str]:
        """List the columns that have one of the roles."""
        return [name for role in roles for name in self.candidates(role)]
