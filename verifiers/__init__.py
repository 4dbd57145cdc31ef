"""Proofs: symmetries, bounds, certificates and their independent replay."""
