"""The exact best response: an exploiter with real cards who forgets nothing."""
