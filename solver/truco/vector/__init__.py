"""Full-width vector solver of the hand: holdings, betting trees, kernels, the solver and the exact best response.

In progress, and reached by no command yet: after an accepted Envido its values still differ from enumeration on small
decks (tests/test_vector_lookup.py), so nothing it computes with Envido may be trusted.
"""
