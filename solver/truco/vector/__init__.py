"""Full-width vector solver of the hand: holdings, betting trees, kernels, the solver and the exact best response.

Order of reading: holdings (what a player may hold), trees (who may do what), abstraction (what tricks 2 and 3
forget), layout (where tables lie), kernels, accepted and exits (the passes), solve (the iteration), lookup, cursor
and policy (reading a strategy), certify with its two kernel modules (what a best response wins against it).
"""
