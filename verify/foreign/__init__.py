# SPDX-License-Identifier: Apache-2.0
"""The maps of other projects, by their own functions: `adapters/` say what to call, `child` calls it elsewhere.

A project's functions run in the project's own interpreter, in a child process (`isolation`); every answer is checked
against its schema (`answers`) and becomes a `FragmentMap`, which `checker` compares with the ISA tables and with the
project's own inverse.
"""

__all__: list[str] = []
