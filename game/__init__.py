"""The games, and what they are made of; importing this package registers them with OpenSpiel if it is installed."""

from importlib.util import find_spec

if find_spec("pyspiel") is not None:
    from game.truco import openspiel_hand as _openspiel_hand  # noqa: F401
    from game.truco import openspiel_match as _openspiel_match  # noqa: F401
    from game.truff import openspiel_game as _truff  # noqa: F401
