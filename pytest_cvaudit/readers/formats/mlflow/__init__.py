"""MLflow: experiments and runs of a SQLite or folder store, or of a tracking server, as tables of folds."""
