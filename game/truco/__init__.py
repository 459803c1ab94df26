"""Two-player Truco: cards, rules, one hand, the match, and their OpenSpiel games."""
