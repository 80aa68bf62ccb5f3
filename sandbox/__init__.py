"""The stand-in for the outside world: AMD's servers (`upstream`) and a fleet of bare hosts (`fleet`).

Nothing in this package is shipped in the collection. `python -m sandbox --help` lists the commands.
"""
