"""The games, and what they are made of; importing this package registers them with OpenSpiel."""

from game.truco import openspiel_hand as _openspiel_hand  # noqa: F401
from game.truco import openspiel_match as _openspiel_match  # noqa: F401
from game.truff import openspiel_game as _truff  # noqa: F401
