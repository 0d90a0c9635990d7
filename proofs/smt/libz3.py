# SPDX-License-Identifier: Apache-2.0
"""z3 through its C API: the shared library of the package z3-solver, without its Python bindings.

The bindings take three times as long to import as the library to load, and nothing here needs them: a problem is
SMT-LIB text, and so is the answer. The functions used are in z3's `z3_api.h` since version 4.8.
"""

from __future__ import annotations

import sys
from ctypes import CDLL, CFUNCTYPE, byref, c_char_p, c_int, c_uint, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

FILE = {"win32": "libz3.dll", "darwin": "libz3.dylib"}.get(sys.platform, "libz3.so")
# Without a handler of our own, z3 ends the process at an error.
_HANDLER = CFUNCTYPE(None, c_void_p, c_int)
_ignored = _HANDLER(lambda context, code: None)


class Z3Error(Exception):
    """What z3 reports instead of an answer."""


class Context:
    """A z3 context, which reads SMT-LIB text; it must not be shared between threads."""

    _dead: ClassVar[list[int]] = []  # contexts that nobody uses any more, until the next one is made

    def __init__(self) -> None:
        self._library = load_library()
        while self._dead:
            self._library.Z3_del_context(self._dead.pop())
        config = self._library.Z3_mk_config()
        self._context = self._library.Z3_mk_context_rc(config)
        self._library.Z3_del_config(config)
        self._library.Z3_set_error_handler(self._context, _ignored)

    def __del__(self) -> None:
        # z3 takes milliseconds for it. Python would print and lose a Ctrl-C that arrives here, in a finalizer.
        if context := vars(self).pop("_context", None):
            self._dead.append(context)

    def evaluate(self, text: str) -> str:
        r"""Return the output of z3 for SMT-LIB text, commands of which change the context.

        >>> Context().evaluate("(assert false)(check-sat)")
        'unsat\n'

        Raises Z3Error where z3 has an error code, and where its output has an error in place of an answer.
        """
        output: bytes = self._library.Z3_eval_smtlib2_string(self._context, text.encode())
        code = self._library.Z3_get_error_code(self._context)
        if code:
            raise Z3Error(self._library.Z3_get_error_msg(self._context, code).decode(errors="replace"))
        answer = output.decode()
        if any(line.startswith("(error") for line in answer.splitlines()):
            raise Z3Error(answer)
        return answer


@cache
def load_library() -> CDLL:
    """Return the shared library, with the types of the functions used here.

    Raises ImportError where z3 is not installed.
    """
    z3 = load()
    for name, result, *arguments in (
        ("Z3_mk_config", c_void_p),
        ("Z3_del_config", None, c_void_p),
        ("Z3_mk_context_rc", c_void_p, c_void_p),
        ("Z3_del_context", None, c_void_p),
        ("Z3_set_error_handler", None, c_void_p, _HANDLER),
        ("Z3_eval_smtlib2_string", c_char_p, c_void_p, c_char_p),
        ("Z3_get_error_code", c_int, c_void_p),
        ("Z3_get_error_msg", c_char_p, c_void_p, c_int),
        ("Z3_get_version", None, c_void_p, c_void_p, c_void_p, c_void_p),
    ):
        function = getattr(z3, name)
        function.restype, function.argtypes = result, arguments
    return z3


def load() -> CDLL:
    """Return the library in the package's own folder, in the environment's, or where the system finds one."""
    spec = find_spec("z3")
    packages = (spec and spec.submodule_search_locations) or ()
    for folder in (*packages, sys.prefix):
        file = Path(folder, "lib", FILE)
        if file.is_file():
            return CDLL(str(file))
    try:
        return CDLL(FILE)
    except OSError as error:
        raise ImportError(f"z3 is not installed (pip install z3-solver): {error}") from error


def version() -> str:
    """Return the version of z3: major, minor, build."""
    numbers = [c_uint() for _ in range(4)]
    load_library().Z3_get_version(*map(byref, numbers))
    return ".".join(str(number.value) for number in numbers[:3])
