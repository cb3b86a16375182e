"""Alias of hai's SDK under HAI's name: `import hfai; hfai.client.receive_suspend_command()`."""

from . import client

__all__ = ["client"]
