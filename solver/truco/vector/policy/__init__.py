"""Stored policies: files, look-up at a decision, subgames re-solved, certificates."""
