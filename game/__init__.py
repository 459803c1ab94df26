"""The games, and what they are made of; importing this package registers them with OpenSpiel."""
