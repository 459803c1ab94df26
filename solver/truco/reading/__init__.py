"""What reads solutions: advice, counts of decisions, duels. Knows the interface of a solution, no concrete one."""
