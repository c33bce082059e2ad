"""Does a run keep its guarantees under disturbances?"""
