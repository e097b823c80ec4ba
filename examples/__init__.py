"""Samples, each run with `python -m examples.NAME` from the checkout: bundle made, checked, and run by the host."""
