"""What people run: the `truco` command, benchmarks and bot matches."""
