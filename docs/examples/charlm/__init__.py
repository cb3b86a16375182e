"""The parts of the sample job train.py: a character language model trained data-parallel in plain
Python."""
