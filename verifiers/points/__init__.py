"""Statements about one parameter point, exact over the rationals: its normal form, the rank there, its fiber.

Everything here is about *this* theta; nothing is claimed of generic parameters unless it says so.
"""
