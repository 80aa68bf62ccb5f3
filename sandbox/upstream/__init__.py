"""A stand-in for AMD's and PyTorch's servers: signed apt trees, a wheel index, an HTTP server that can misbehave."""
