"""One way to read a log in these tests: write files, read them through the public interface."""

from __future__ import annotations

import pytest

from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers import LogSpec, read_log

PROTOCOL = ("positive", "labels", "group")


@pytest.fixture
def read(tmp_path):
    """Return a function that writes files (a text alone is log.csv) and reads them, by `by` or as the only log."""

    def run(files, **options):
        contents = {"log.csv": files} if isinstance(files, str) else files
        for name, content in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        protocol = Protocol(**{name: options.pop(name) for name in PROTOCOL if name in options})
        spec = LogSpec(base=tmp_path, **{"paths": tuple(contents), **options})
        logs = read_log(spec, protocol)
        return logs if spec.by else logs[()]

    return run
