# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.movement`: data on its way between registers and memory."""
