"""Coordinate certificates: dimensions at any size from the ranks of a few tiny blocks."""
