# SPDX-License-Identifier: Apache-2.0
"""The maps of other projects, by their own functions: `adapters/` say what to call, `verify.maps.child` calls it.

A project's functions run in the project's own interpreter, in a child process (`verify.maps.isolation`); every answer
is checked against its schema (`verify.maps.answers`) and becomes a `FragmentMap`, which `checker` compares with the ISA
tables and with the project's own inverse.
"""

__all__: list[str] = []
