"""The page of a fleet in a real browser."""
