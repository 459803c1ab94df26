"""Catalogues of languages: all have every key with its values, and no typed word means two things."""

import re
from pathlib import Path
from string import Formatter

import pytest

from game.truco.actions import ENVIDO, MAZO, NO_QUIERO, QUIERO, REAL_ENVIDO, VALE_CUATRO, WORDS
from game.truco.cards import DECK_SIZE, card_name, parse_card
from game.truco.scoring import Reason
from scripts.words import (
    FALLBACK,
    FOLDER,
    catalogue,
    chosen_words,
    languages,
    meant_action,
    meant_command,
    plain,
    spoken,
)
from solver.truco.reading.grading import Kind


def fields(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_there_are_english_and_spanish():
    assert set(languages()) >= {"en", "es"}
    assert catalogue("es")("name") == "Español"


@pytest.mark.parametrize("language", languages())
def test_every_catalogue_has_every_key_and_its_values(language):
    reference, labels = catalogue(FALLBACK).labels, catalogue(language).labels
    assert labels.keys() == reference.keys()
    for key, label in labels.items():
        assert type(label) is type(reference[key]), key
        if isinstance(label, str):
            assert fields(label) == fields(reference[key]), key
        else:
            assert all(isinstance(word, str) for word in label), key


def test_every_label_is_used():
    """Labels of actions, cards and the like are made of names; the others stand in the code as they are."""
    code = "".join(path.read_text() for path in Path(FOLDER).parent.glob("*.py"))
    named = ("actions.", "said.", "cards.", "commands.", "kinds.", "why.", "seats.", "review.unit_")
    for key in catalogue(FALLBACK).labels.keys() - {"name"}:
        name = key.removeprefix("review.column_")
        assert key.startswith(named) or re.search(f"[\"'](?:{re.escape(key)}|{name})[\"']", code), key


@pytest.mark.parametrize("language", languages())
def test_every_name_of_the_game_has_a_label(language):
    words = catalogue(language)
    assert all(words(f"actions.{name}") for name in WORDS)
    assert all(words(f"kinds.{kind.value}") for kind in Kind)
    assert all(f"why.{reason.value}" in words.labels for reason in Reason)


def test_a_word_means_one_action_in_all_languages_together():
    said = {}
    for language in languages():
        for key, label in catalogue(language).labels.items():
            group, _, name = key.partition(".")
            if group in ("actions", "said"):
                for word in [label] if isinstance(label, str) else label:
                    assert said.setdefault(plain(word), name) == name, word
                    assert meant_command(word) is None, word
    assert said.keys() <= spoken().keys()


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Envido", ENVIDO), ("¡ENVIDO!", ENVIDO), ("real_envido", REAL_ENVIDO), ("re", REAL_ENVIDO),
        ("Vale cuatro", VALE_CUATRO), ("vale 4", VALE_CUATRO), ("sí", QUIERO), ("SI", QUIERO), ("yes", QUIERO),
        ("no", NO_QUIERO), ("no quiero", NO_QUIERO), ("fold", MAZO), ("me voy al mazo", MAZO), ("mazo", MAZO),
        ("7O", parse_card("7O")), ("7o", parse_card("7O")), ("7 de oro", parse_card("7O")),
        ("7 of coins", parse_card("7O")), ("Ace of Swords", parse_card("1E")), ("rey de bastos", parse_card("12B")),
        ("knight of cups", parse_card("11C")), ("8O", None), ("8 of coins", None), ("", None), ("tute", None),
        ("7 of tute", None), ("?", None),
    ],
)  # fmt: skip
def test_what_can_be_typed(text, action):
    assert meant_action(text) == action


def test_every_card_by_its_name():
    assert [meant_action(card_name(card)) for card in range(DECK_SIZE)] == list(range(DECK_SIZE))


def test_commands_in_both_languages():
    assert [meant_command(word) for word in ("?", "help", "Ayuda", "quit", "SALIR", "truco", "")] == [
        "help", "help", "help", "quit", "quit", None, None,
    ]  # fmt: skip


def test_the_language_of_the_environment(monkeypatch):
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    for place, language in (("es_AR.UTF-8", "es"), ("de_DE.UTF-8", "en"), ("C.UTF-8", "en"), ("", "en")):
        monkeypatch.setenv("LANG", place)
        assert chosen_words(None).language == language
    assert chosen_words("es").language == "es"
    with pytest.raises(ValueError, match="language 'pt' is unknown, allowed: en, es"):
        chosen_words("pt")


def test_a_language_is_added_by_one_file(monkeypatch, tmp_path):
    for language in languages():
        (tmp_path / f"{language}.toml").write_text((FOLDER / f"{language}.toml").read_text())
    (tmp_path / "pt.toml").write_text((FOLDER / "es.toml").read_text().replace('"acepto"', '"aceito"'))
    monkeypatch.setattr("scripts.words.FOLDER", tmp_path)
    catalogue.cache_clear()
    spoken.cache_clear()
    try:
        assert chosen_words("pt")("actions.quiero") == "Quiero"
        assert meant_action("aceito") == QUIERO
    finally:
        catalogue.cache_clear()
        spoken.cache_clear()
