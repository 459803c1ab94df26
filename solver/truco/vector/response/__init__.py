"""Exploiting: best responses to an average strategy, with real cards or at tier level."""
