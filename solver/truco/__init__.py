"""Solving and evaluating the full two-player Truco hand."""
