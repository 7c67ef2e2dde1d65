"""The papers' figures are drawn with one command, and Van Asch's curves are what his equation says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from pytest_cvaudit.designs import Design
from pytest_cvaudit.designs.macro import expected_macro_f1, limit_macro_f1

EXAMPLE = Path(__file__).parents[2] / "examples/forman_scholz"
RECALLS = (0.8, 0.977)


@pytest.fixture
def script():
    """The example's script as a module."""
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("make_figures", EXAMPLE / "make_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_figures_are_drawn(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["make_figures.py", str(tmp_path / "made"), "--format", "svg"])
    monkeypatch.setattr(script, "SIMULATION", script.Simulation(repeats=500))
    script.main()
    made = sorted((tmp_path / "made").iterdir())
    assert [path.name.split("_")[0] for path in made] == [*(f"figure{n}" for n in range(4, 10)), "van"]
    assert all(path.stat().st_size > 10_000 for path in made)
    assert capsys.readouterr().out.count("\n") == 7


@pytest.mark.parametrize("share", [0.005, 0.01, 0.05, 0.1, 0.5])
def test_equation_31(share):
    """Against the counts that it stands for."""
    a, b = share, 1 - share
    tp_a, tp_b = a * RECALLS[0], b * RECALLS[1]
    fn_a, fn_b = a - tp_a, b - tp_b
    macro = tp_a / (2 * tp_a + fn_b + fn_a) + tp_b / (2 * tp_b + fn_a + fn_b)
    assert limit_macro_f1(share, *RECALLS) == pytest.approx(macro, abs=1e-15)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
def test_the_totals_follow_equation_31_and_the_mean_of_folds_does_not(share):
    limit = limit_macro_f1(share, *RECALLS)
    large, small = (
        expected_macro_f1(Design(n, round(share * n), 50, stratified=False), *RECALLS) for n in (10_000, 1000)
    )
    assert large["tp_fp"] == pytest.approx(limit, abs=5e-4)
    assert small["tp_fp"] == pytest.approx(limit, abs=4e-3)
    assert small["avg"] < large["avg"] < limit
    assert limit - small["avg"] > 0.05
