"""The quick engine: sampled CFR on the full hand with a compact information key."""
