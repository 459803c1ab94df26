"""The match to 15: the equity table, matches between stored strategies, and an opponent trained against them."""
