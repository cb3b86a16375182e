"""Where things are in the source tree; importing this makes the SDK importable."""

import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SDK = os.path.join(ROOT, "sdk", "python")
TRAIN = os.path.join(ROOT, "docs", "examples", "train.py")

sys.path.insert(0, SDK)
