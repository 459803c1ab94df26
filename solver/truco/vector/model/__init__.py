"""The game as the vector engine sees it: holdings, trees, abstraction, places of tables. No strategies."""
