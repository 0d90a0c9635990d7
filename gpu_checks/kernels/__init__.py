# SPDX-License-Identifier: Apache-2.0
"""The CUDA text of every probe, from the mnemonic and the signature of an instruction alone."""
