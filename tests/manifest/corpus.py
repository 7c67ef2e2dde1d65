"""Manifests that are good, that break the schema, and that break what a schema cannot say."""

from __future__ import annotations

from collections.abc import Callable

from pytest_cvaudit.manifest import Manifest

Load = Callable[[str], Manifest]

DESIGN = """\
standard: forman-scholz            # or a path; optional
experiments:
  - name: re0-svm
    log: folds.csv                 # path, glob or list, relative to this file; or what a reader understands
    positive: "1"
    folds: 4                       # the declared protocol
    stratified: true
    claims:
      - f1 = 0.69                  # as printed: digits, percent sign and ± kept
      - {metric: auc, value: 92%, aggregation: avg, where: Table 3}
  - name: re0-nb
comparisons:
  - {better: re0-svm, than: re0-nb, by: f1}
suppress:
  - {rule: CV110, experiment: re0-*, reason: "rare class, agreed in the protocol", until: 2027-01-01}
"""


def experiment(*lines: str) -> str:
    """Write a manifest with one experiment ``a``; the given lines start in line 3."""
    return "experiments:\n  - name: a\n" + "".join(f"    {line}\n" for line in lines)


GOOD = {
    "design": DESIGN,
    "least": experiment(),
    "null is absent": "standard: ~\nsuppress:\ncomparisons: null\n" + experiment("log:", "folds: null", "claims:"),
    "unquoted texts": experiment("log: x", "positive: 1", "group: yes", "labels: [1, 0.50, no, x]"),
    "label counts": experiment("labels: {a: 10, b: 0.5, 3: 0}"),
    "log list": experiment("log: [a.csv, 'b/*.csv']", "by: [disease, gene]", "columns: {truth: y, 7: 8}"),
    "table": experiment("table: |", "  fold,tp", "  1,2"),
    "reading": experiment("log: x", "by: gene", "select: {model: svm}", "threshold: -1e-3", "separator: ';'",
        "folds_from: f.csv", "join: t.csv"),
    "counts": experiment("folds: 10", "repeats: 2.0", "instances: 1000", "positives: 1e2", "calibrated: no"),
    "claims": experiment(
        "claims:", "  - f1: 0.60", "  - 'auc: 92 %'", "  - {metric: f1, value: 1, label: 2, folds: 9}",
        "  - {metric: precision_at_k, value: .5, k: 10}", "  - {metric: f1, value: 0.6, aggregation: avg@train}",
    ),
    "for": experiment("log: x", "by: g",
        "claims: [{metric: f1, value: 1, for: 7}, {metric: f1, value: 1, for: {g: 8}}]"),
    "alias": "experiments:\n  - &a {name: a, folds: 4}\n  - {<<: *a, name: b}\n",
    "merge list": "experiments:\n- &a {name: a, folds: 4}\n- &b {name: b, repeats: 2}\n- {<<: [*a, *b], name: c}\n",
    "bom": "\ufeffexperiments: [{name: a}]\n",
    "crlf": "experiments:\r\n  - name: a\r\n",
}  # fmt: skip

# Each with the line and a part of the message.
BREAKS_SCHEMA = {
    "unknown key": (experiment("postive: 1"), 3, "unknown key 'postive' in experiment 'a'; did you mean 'positive'?"),
    "unknown null key": (experiment("postive:"), 3, "unknown key 'postive'"),
    "unknown top key": ("experiment: []\n", 1, "unknown key 'experiment' in the manifest; did you mean 'experiments'?"),
    "far key": (experiment("zzz: 1"), 3, "unknown key 'zzz' in experiment 'a' (known: name, log, "),
    "unknown claim key": (
        experiment("claims:", "  - f1 = 1", "  - {metric: f1, value: 1, aggregaton: avg}"), 5,
        "unknown key 'aggregaton' in item 2 of 'claims' of experiment 'a'; did you mean 'aggregation'?",
    ),
    "two short claims": (experiment("claims:", "  - {f1: 1, auc: 1}"), 4, "unknown key 'f1' in item 1 of 'claims'"),
    "no experiments": ("standard: x\n", 1, "the manifest has no 'experiments'"),
    "empty experiments": ("experiments: []\n", 1, "'experiments' must not be an empty list"),
    "null experiments": ("\nexperiments:\n", 2, "'experiments' must be a list, not empty"),
    "mapping experiments": ("experiments:\n  a: {log: x}\n", 2, "'experiments' must be a list, not a mapping"),
    "text experiment": ("experiments:\n  - a\n", 2, "item 1 of 'experiments' must be a mapping, not 'a'"),
    "list manifest": ("- a\n", 1, "the manifest must be a mapping, not a list"),
    "text manifest": ("hello\n", 1, "the manifest must be a mapping, not 'hello'"),
    "no name": ("experiments:\n  - log: x\n", 2, "item 1 of 'experiments' has no 'name'"),
    "null name": (
        "experiments:\n  - log: x\n    name:\n", 3,
        "'name' of item 1 of 'experiments' must be text, not empty",
    ),
    "colons in name": ("experiments:\n  - name: a::b\n", 2, "must be one line of text without '::', not 'a::b'"),
    "two-line name": ('experiments:\n  - name: "a\\nb"\n', 2, "must be one line of text without '::'"),
    "folds word": (experiment("folds: ten"), 3, "'folds' of experiment 'a' must be a whole number, not 'ten'"),
    "folds quoted": (experiment('folds: "10"'), 3, "must be a whole number, not the text '10'"),
    "folds zero": (experiment("folds: 0"), 3, "'folds' of experiment 'a' must be at least 1, not 0"),
    "folds half": (experiment("folds: 2.5"), 3, "must be a whole number, not '2.5'"),
    "folds list": (experiment("folds: [1]"), 3, "must be a whole number, not a list"),
    "folds huge": (experiment("folds: 1e300"), 3, "must be at most 1000000000000"),
    "stratified": (experiment("stratified: maybe"), 3, "must be true or false, not 'maybe'"),
    "stratified number": (experiment("stratified: 1"), 3, "must be true or false, not '1'"),
    "threshold": (experiment("log: x", "threshold: high"), 4, "must be a number, not 'high'"),
    "threshold nan": (experiment("log: x", "threshold: .nan"), 4, "must be a number, not '.nan'"),
    "empty log": (experiment('log: ""'), 3, "'log' of experiment 'a' must not be empty"),
    "empty log list": (experiment("log: []"), 3, "must not be an empty list"),
    "log mapping": (experiment("log: {path: x}"), 3, "must be text or a list, not a mapping"),
    "log item": (
        experiment("log:", "  - x", "  - [y]"), 5,
        "item 2 of 'log' of experiment 'a' must be text, not a list",
    ),
    "columns list": (experiment("log: x", "columns: [a]"), 4, "must be a mapping, not a list"),
    "column null": (
        experiment("log: x", "columns: {truth: }"), 4,
        "'truth' of 'columns' of experiment 'a' must be text",
    ),
    "labels null": (experiment("labels: {a: }"), 3, "'a' of 'labels' of experiment 'a' must be a number, not empty"),
    "labels negative": (experiment("labels: {a: -1}"), 3, "must be at least 0, not -1"),
    "claims text": (experiment("claims: f1 = 1"), 3, "'claims' of experiment 'a' must be a list, not 'f1 = 1'"),
    "claim number": (
        experiment("claims:", "  - 0.69"), 4,
        "item 1 of 'claims' of experiment 'a' must be text or a mapping",
    ),
    "claim null": (experiment("claims:", "  -"), 4, "must be text or a mapping, not empty"),
    "claim empty": (experiment("claims:", "  - {}"), 4, "must not be empty"),
    "short claim null": (
        experiment("claims:", "  - f1:"), 4,
        "'f1' of item 1 of 'claims' of experiment 'a' must be text",
    ),
    "claim without value": (experiment("claims:", "  - {metric: f1}"), 4, "has no 'value'"),
    "claim without metric": (experiment("claims:", "  - value: 1"), 4, "has no 'metric'"),
    "claim aggregation": (
        experiment("claims:", "  - {metric: f1, value: 1, aggregation: Avg}"), 4,
        "must be a name such as 'tp_fp' or 'avg@train', not 'Avg'",
    ),
    "comparison": (
        experiment() + "comparisons:\n  - {better: a, by: f1}\n", 4,
        "item 1 of 'comparisons' has no 'than'",
    ),
    "suppress reason": (experiment() + "suppress:\n  - rule: CV1\n", 4, "item 1 of 'suppress' has no 'reason'"),
    "suppress blank": (
        experiment() + "suppress:\n  - rule: CV1\n    reason: ' '\n", 5,
        "'reason' of item 1 of 'suppress'",
    ),
    "suppress until": (
        experiment() + "suppress:\n  - {rule: CV1, reason: x, until: soon}\n", 4, "must be a date such as 2027-01-01",
    ),
}  # fmt: skip

BREAKS_SENSE = {
    "log and table": (experiment("log: x", "table: y"), 4, "'log' and 'table' exclude each other"),
    "by without log": (experiment("by: gene"), 3, "'by' needs a 'log' or a 'table' to read"),
    "same name": (
        "experiments:\n  - name: a\n  - name: b\n  - name: a\n", 4,
        "duplicate experiment 'a' (first in line 2)",
    ),
    "same label": (experiment("labels: [a, b, a]"), 3, "duplicate label 'a'"),
    "unknown metric": (
        experiment("claims:", "  - f1 = 1", "  - acuracy = 1"), 5,
        "unknown metric 'acuracy'; did you mean",
    ),
    "unknown short metric": (experiment("claims:", "  - acuracy: 1"), 4, "unknown metric 'acuracy'"),
    "unknown mapping metric": (
        experiment("claims:", "  - metric: acuracy", "    value: 1"), 4, "unknown metric 'acuracy'",
    ),
    "no claim": (experiment("claims:", "  - hello"), 4, "'hello' is not a claim; write it as 'f1 = 0.69'"),
    "long claim": (experiment("claims:", "  - |", "    hello", "    you"), 4, "'hello you ' is not a claim"),
    "no number": (experiment("claims:", "  - f1 = high"), 4, "'high' is not a printed number"),
    "out of range": (experiment("claims:", "  - f1 = 69"), 4, "lies outside 0..1; write 69% if it is a percentage"),
    "k": (experiment("claims:", "  - {metric: f1, value: 1, k: 3}"), 4, "'k: 3' does not go with the metric 'f1'"),
    "two k": (experiment("claims:", "  - {metric: precision_at_5, value: 1, k: 3}"), 4, "'k: 3' does not go with"),
    "for without by": (experiment("claims:", "  - {metric: f1, value: 1, for: x}"), 4, "'for' needs 'by'"),
    "for column": (
        experiment("log: x", "by: gene", "claims:", "  - {metric: f1, value: 1, for: {gen: x}}"), 6,
        "'gen' is not a column of 'by'; did you mean 'gene'?",
    ),
    "for half": (
        experiment("log: x", "by: [d, g]", "claims:", "  - {metric: f1, value: 1, for: {d: x}}"), 6,
        "'for' does not say which 'g'",
    ),
    "better": (
        experiment() + "comparisons:\n  - {better: a, than: b, by: f1}\n", 4, "'than' names no experiment: 'b'",
    ),
    "itself": (experiment() + "comparisons:\n  - {better: a, than: a, by: f1}\n", 4, "'a' is compared with itself"),
    "comparison metric": (
        "experiments: [{name: a}, {name: b}]\ncomparisons:\n  - {better: a, than: b,\n     by: speed}\n", 4,
        "unknown metric 'speed'",
    ),
    "more positives than instances": (
        experiment("instances: 10", "positives: 40"), 4, "40 positives cannot be among 10 instances",
    ),
    "more positives than instances, with a log": (
        experiment("log: x", "positives: 11", "instances: 10"), 4, "11 positives cannot be among 10 instances",
    ),
    "more folds than instances": (
        experiment("folds: 100", "instances: 10"), 3, "10 instances cannot make 100 folds",
    ),
    "more folds than supports": (
        experiment("supports: {a: 3, b: 4}", "folds: 8"), 4, "7 instances cannot make 8 folds",
    ),
    "no class": (
        experiment("supports: {alpha: 3, b: 4}", "claims:", "  - 'f1[alhpa] = 1'"), 5,
        "'alhpa' is no class of 'supports'; did you mean 'alpha'?",
    ),
    "no such day": (
        experiment() + "suppress:\n  - {rule: CV1, reason: x, until: 2027-02-30}\n", 4,
        "'until' is no day of the calendar: '2027-02-30'",
    ),
}  # fmt: skip

NOT_YAML = {
    "empty": ("", None, "the file is empty"),
    "comment": ("# nothing\n", None, "the file is empty"),
    "tab": ("experiments:\n\t- name: a\n", 2, "indented with a tab; use spaces"),
    "open bracket": ("experiments: [\n", 2, "not valid YAML: while parsing a flow node"),
    "two colons": ("experiments:\n  - name: a: b\n", 2, "not valid YAML: mapping values are not allowed here"),
    "open quote": ("experiments:\n  - name: 'a\n", 2, "not valid YAML: while scanning a quoted scalar"),
    "two documents": ("experiments: [{name: a}]\n---\nexperiments: []\n", 2, "several YAML documents in one file"),
    "duplicate key": (experiment("folds: 1", "log: x", "folds: 2"), 5, "duplicate key 'folds' (first in line 3)"),
    "unknown alias": (experiment("log: *x"), 3, "found undefined alias 'x'"),
    "alias of itself": ("experiments: &x\n  - *x\n", 1, "an alias that contains itself"),
    "list as key": ("experiments:\n  - [a]: b\n", 2, "a key must be a plain text"),
    "tag": (
        experiment("log: !!python/object:os.system x"), 3,
        "the YAML tag 'tag:yaml.org,2002:python/object:os.system'",
    ),
    "merge of text": (experiment("<<: x"), 2, "'<<' can only merge mappings"),
    "control character": (experiment("log: x", "where: \x07"), 4, "control character U+0007"),
    "deep": ("experiments: " + "[" * 10_000, None, "nested too deeply"),
    "long key": ('experiments:\n  - name: a\n    "lo\\ng": 1\n', 3, "unknown key 'lo g' in experiment 'a'"),
}  # fmt: skip
