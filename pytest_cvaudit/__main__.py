"""``python -m pytest_cvaudit`` is the ``cvaudit`` command."""

import sys

from pytest_cvaudit.cli import main

sys.exit(main())
