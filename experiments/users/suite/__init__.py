"""Real wide data out of packages, and synthetic tasks: banach against what users would pick instead, on the same splits.

`make suite` downloads the packages, measures what is not measured yet, and writes docs/suite.md. The models are those of `modelling`, on one
thread each. Splits and draws with the seeds 0 to 4 are for choosing rules by; those that the page reports begin at 100.
"""
