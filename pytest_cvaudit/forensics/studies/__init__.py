"""Studies of several parts (repeats, data sets, classes), written as the same search as the folds of one design."""
