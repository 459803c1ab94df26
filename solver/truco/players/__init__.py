"""Hand-written players to measure against."""
