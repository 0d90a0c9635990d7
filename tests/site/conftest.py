# SPDX-License-Identifier: Apache-2.0
"""The site's extension imports griffe, which the docs group brings."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("griffe") else ["doctests.py"]
