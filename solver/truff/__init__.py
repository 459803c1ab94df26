"""Truff players: fast engine, rule-based and tuned play, determinised search, learned bids, tournaments."""
