"""Does a run keep its promises whatever happens to it?"""
