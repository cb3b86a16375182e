"""hai.client under HAI's name."""

from hai import client as _client
from hai.client import *  # noqa: F401,F403


def __getattr__(name):
    return getattr(_client, name)
