"""Mutation test of the checks: flip each comparison, and some card's case must come out differently."""

from __future__ import annotations

import ast
import copy
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_cvaudit import checks
from pytest_cvaudit.cases import load_case
from pytest_cvaudit.rulebook import load_rules

MODULES = sorted(
    path.stem for path in Path(checks.__file__).parent.glob("*.py") if path.stem not in ("__init__", "registry")
)
FLIPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
REQUIRED = 0.9


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    what: str
    tree: ast.Module


def mutants(module):
    """Every tree with one comparison flipped, one and/or swapped, or one not removed, inside functions."""
    tree = ast.parse(Path(checks.__file__).with_name(f"{module}.py").read_text())
    places = [
        (index, operand)
        for index, node in enumerate(ast.walk(tree))
        for operand in _operands(node)
        if not _is_typing_guard(node)
    ]
    for index, operand in places:
        changed = copy.deepcopy(tree)
        node = list(ast.walk(changed))[index]
        what = _mutate(node, operand)
        yield Mutant(module, node.lineno, what, changed)


def _operands(node):
    if isinstance(node, ast.Compare):
        return [i for i, op in enumerate(node.ops) if type(op) in FLIPS]
    if isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return [0]
    return []


def _is_typing_guard(node):
    return any(isinstance(child, ast.Name) and child.id == "TYPE_CHECKING" for child in ast.walk(node))


def _mutate(node, operand):
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[operand] = FLIPS[type(node.ops[operand])]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    else:
        node.op = ast.UAdd()
        node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
        ast.fix_missing_locations(node)
    return f"{before}  ->  {ast.unparse(node)}"


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """The cases of every rule, read once."""
    return {
        rule.code: [load_case(rule, case, tmp_path_factory.mktemp(rule.code)) for case in rule.cases]
        for rule in load_rules().values()
    }


def survives(mutant, cases):
    """Run the cases of the module's rules with the mutant in place of the module."""
    name = f"pytest_cvaudit.checks.{mutant.module}"
    before = dict(checks.CHECKS)
    original = sys.modules[name]
    codes = [code for code, function in before.items() if function.__module__ == name]
    for code in codes:
        del checks.CHECKS[code]
    namespace = {"__name__": name}
    try:
        exec(compile(mutant.tree, name, "exec"), namespace)
        return all(loaded.promises(loaded.outcome()) for code in codes for loaded in cases[code])
    except Exception:
        return False
    finally:
        checks.CHECKS.clear()
        checks.CHECKS.update(before)
        sys.modules[name] = original


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_the_unchanged_module_passes(module, cases):
    tree = ast.parse(Path(checks.__file__).with_name(f"{module}.py").read_text())
    assert survives(Mutant(module, 0, "unchanged", tree), cases)


@pytest.mark.slow
def test_the_cases_kill_the_mutants(cases, capsys):
    everyone = [mutant for module in MODULES for mutant in mutants(module)]
    alive = [mutant for mutant in everyone if survives(mutant, cases)]
    score = 1 - len(alive) / len(everyone)
    with capsys.disabled():
        print(f"\n{len(everyone)} mutants of checks/, {len(everyone) - len(alive)} killed: {score:.1%}")
        for mutant in alive:
            print(f"  survived: {mutant.module}.py:{mutant.line}: {mutant.what}")
    assert score >= REQUIRED
