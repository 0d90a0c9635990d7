# SPDX-License-Identifier: Apache-2.0
"""The page docs/performance.md: other libraries and ours on the same inputs, and how time grows with the input.

`inputs`     the layouts, as shapes and strides
`adapters`   how each library computes, in its own interpreter; `child` is the program that runs there
`libraries`  the libraries, and their processes
`measure`    compares all results, then takes the times
`page`       the page, from `measured.json` and from `recorded.toml`, which has what was measured on a GPU
"""
