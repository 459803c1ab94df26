"""The games, and what they are made of; importing this package registers them with OpenSpiel."""

from game.truff import openspiel_game as _truff  # noqa: F401
