"""Logs of printed fold values: the tables behind them, and which aggregations they leave possible."""
