"""Make the two logs: SVMs, tuned in each fold, on a breast cancer set where few tumours are malignant.

The evaluation is the usual loop, and so are its mistakes; ``cvaudit.yaml`` claims what it prints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

MALIGNANT, FOLDS = 0, 10
RADIUS, TEXTURE, PERIMETER, AREA, FRACTAL_DIMENSION = 0, 1, 2, 3, 9


def rare_tumours(malignant: int, columns: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """All benign tumours and a few malignant ones, described by a few columns; malignant is 1."""
    data, target = load_breast_cancer(return_X_y=True)
    generator = np.random.default_rng(seed)
    kept = generator.choice(np.flatnonzero(target == MALIGNANT), malignant, replace=False)
    rows = generator.permutation(np.concatenate([kept, np.flatnonzero(target != MALIGNANT)]))
    return data[rows][:, columns], (target[rows] == MALIGNANT).astype(int)


def cross_validate(name: str, model: SVC, grid: dict[str, list], features: np.ndarray, label: np.ndarray) -> None:
    """Cross-validate, log every prediction and print the numbers that the manifest claims."""
    f1, rows = [], []
    for fold, (train, test) in enumerate(KFold(FOLDS).split(features), start=1):
        search = GridSearchCV(make_pipeline(StandardScaler(), model), grid, scoring="f1", cv=3)
        search.fit(features[train], label[train])
        predicted, score = search.predict(features[test]), search.decision_function(features[test])
        f1.append(f1_score(label[test], predicted, zero_division=0))
        rows += zip([fold] * len(test), test, label[test], predicted, score, strict=True)
    log = pd.DataFrame(rows, columns=["fold", "row_id", "y_true", "y_pred", "score"])
    log.to_csv(Path(__file__).with_name(f"{name}.csv"), index=False)
    auc = roc_auc_score(log.y_true, log.score)
    print(f"{name}: f1 = {np.mean(f1):.3f}, auc = {auc:.3f}, accuracy = {(log.y_true == log.y_pred).mean():.1%}")


def main() -> None:
    """Make both logs."""
    size = rare_tumours(28, [RADIUS, TEXTURE, PERIMETER, AREA], seed=4)
    cross_validate("size", SVC(kernel="linear"), {"svc__C": [0.01, 1, 100]}, *size)
    texture = rare_tumours(40, [TEXTURE, FRACTAL_DIMENSION], seed=2)
    grid = {"svc__C": [0.01, 1, 100], "svc__gamma": [0.01, 1]}
    cross_validate("texture", SVC(class_weight="balanced"), grid, *texture)


if __name__ == "__main__":
    main()
