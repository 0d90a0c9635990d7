# SPDX-License-Identifier: Apache-2.0
"""An attack on the verdicts from outside: wrong and right inputs by the thousand, judged by oracles of their own.

`python -m benchmarks.attack` draws the inputs from a seed. An oracle that imports none of the packages says which are
right; a wrong one that is VERIFIED, a right one that is REFUTED, a repair that does not repair and a crash are faults.
"""
