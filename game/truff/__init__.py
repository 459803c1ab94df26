"""Truff, the Indonesian exact-contract trick game: cards, rules, a deal, the match, its OpenSpiel game."""
