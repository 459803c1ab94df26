"""The best response at tier level: an exploiter blind to suits, a quick lower bound."""
