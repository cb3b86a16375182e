"""What a training program says to hai while it runs.

    if hai.receive_suspend_command():
        save(path)
        hai.report_checkpoint(step, path)
        hai.go_suspend()

Inside a job the calls go to the Unix socket $HAI_SOCKET; outside they do nothing, so that the same
program runs on a laptop. Safe from any thread, from signal handlers and in forked children.
"""

from ._channel import Error, Refused, Unreachable
from ._job import (
    get_whole_life_state,
    go_suspend,
    in_job,
    receive_suspend_command,
    report_checkpoint,
    report_metrics,
    report_progress,
    set_watchdog_time,
    set_whole_life_state,
)

__version__ = "0.1.0"

__all__ = [
    "Error",
    "Refused",
    "Unreachable",
    "get_whole_life_state",
    "go_suspend",
    "in_job",
    "receive_suspend_command",
    "report_checkpoint",
    "report_metrics",
    "report_progress",
    "set_watchdog_time",
    "set_whole_life_state",
]
