"""Models of the same data, by what users would pick."""
