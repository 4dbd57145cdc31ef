"""Does somebody's own forward pass compute the network it says it does, and if not, what is wrong with it where?"""
