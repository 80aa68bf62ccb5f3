"""Readers of real tool output: text in, plain data out. They never fail on text, whatever it holds."""
