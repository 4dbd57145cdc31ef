"""Networks and numbers: describe a network, record its forward pass once, evaluate it in any number system."""
