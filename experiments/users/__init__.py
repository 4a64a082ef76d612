"""banach against what users would pick instead; `make bench` runs it and writes its part of docs/benchmarks.md.

`solving` holds solvers against each other on the same problem to the same duality gap, `modelling` models on the same
data. Each has the data in one file, and one file for every opponent, which says what the opponent is given. `suite` has
the same models on real wide data out of packages; `make suite` runs it and writes docs/suite.md.
"""
