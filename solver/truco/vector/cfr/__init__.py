"""Solving: full-width CFR on the model, and the average strategy it leaves."""
