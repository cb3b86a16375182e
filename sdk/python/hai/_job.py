"""The calls of the SDK. Which of them may fail: polls and reports never do (monitoring must not end
a training run), the whole-life state does (the program's own logic hangs on it)."""

import math
import os
import socket
import sys
import time

from . import _channel
from ._channel import Error, Unreachable

SUSPEND_EXIT_CODE = 85
END_WAIT_SECONDS_MAX = 600
GO_SUSPEND_TRIES = 3
POLL_PAUSE_SECONDS = 10.0  # after a poll that hit the timeout: a hung shim must not slow each step
WARN_PERIOD_SECONDS = 60.0
WARN_TEXTS_MAX = 100

_imported_at = time.monotonic()
_no_poll_before = 0.0
_warned_at = {}


def in_job():
    """Does this process run inside a hai job?"""
    return bool(_socket_path())


def receive_suspend_command():
    """True if this job is asked to suspend: save, report the checkpoint, call go_suspend().

    It can turn false again when the reason has gone away. All ranks of a job see the request, but
    not in the same instant: let one rank decide for all."""
    global _no_poll_before
    if not in_job():
        return _simulated_suspend()
    if time.monotonic() < _no_poll_before:
        return False
    try:
        return _call(op="receive_suspend_command").get("suspend") is True
    except Error as error:
        if isinstance(error.__cause__, socket.timeout):
            _no_poll_before = time.monotonic() + POLL_PAUSE_SECONDS
        _warn(error)
        return False


def go_suspend():
    """Everything is saved: end this attempt, for all ranks. Never returns.

    It says so, then waits to be ended. Should hai be unreachable, or no end come, it exits with the
    suspend exit code, which means the same. Outside hai it exits with that code at once. Exit
    handlers do not run: to the program it looks like being killed, wherever it was called."""
    try:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # A closed stream is no reason to go on running.
        if in_job():
            _wait_for_end(_socket_path())
    finally:
        os._exit(_suspend_exit_code())


def report_checkpoint(step, path, seconds=0):
    """A checkpoint after `step` finished steps is durable at `path`; saving it took `seconds`. The
    next attempt finds the path in HAI_CHECKPOINT, and an interruption after this costs less work.
    False if it could not be reported."""
    return _report(
        op="report_checkpoint",
        step=int(step),
        path=os.path.abspath(os.fsdecode(path)),
        seconds=max(0.0, float(seconds)),
    )


def report_progress(step):
    """`step` steps are finished. Counts as a sign of life for the watchdog. False if not
    reported."""
    return _report(op="report_progress", step=int(step))


def report_metrics(**metrics):
    """The newest values of what the program measures of its work, such as loss=0.3: numbers, at most
    8 names in an attempt. The job page shows them over time, of the lowest rank that reports any.
    False if not reported."""
    values = {name: float(value) for name, value in metrics.items()}
    if not in_job():
        return False
    for name, value in values.items():
        if not math.isfinite(value):
            _warn(f"report_metrics: {name} is {value}, which is left out")
    finite = {name: value for name, value in values.items() if math.isfinite(value)}
    return bool(finite) and _report(op="report_metrics", metrics=finite)


def get_whole_life_state():
    """The text set by set_whole_life_state in this or any earlier attempt; "" if none was."""
    if not in_job():
        return os.environ.get("MARSV2_WHOLE_LIFE_STATE", "")
    answer = _call(op="get_whole_life_state")
    state = answer.get("state")
    if not isinstance(state, str):
        raise Unreachable(f"get_whole_life_state: answer without a state: {answer}")
    return state


def set_whole_life_state(state):
    """Keeps `state` (an int or a str) for this and all later attempts. False outside hai."""
    if isinstance(state, bool) or not isinstance(state, (int, str)):
        raise TypeError(f"whole life state must be an int or a str, not {type(state).__name__}")
    if not in_job():
        return False
    _call(op="set_whole_life_state", state=str(state))
    return True


def set_watchdog_time(seconds):
    """From now on so long without a log line or a progress report means that the job hangs.
    False if it could not be set."""
    seconds = int(seconds)
    if seconds <= 0:
        raise ValueError(f"watchdog time must be at least 1 s, not {seconds}")
    return _report(op="set_watchdog_time", seconds=seconds)


def _socket_path():
    return os.environ.get("HAI_SOCKET", "")


def _call(**request):
    return _channel.current(_socket_path()).call(request)


def _report(**request):
    if not in_job():
        return False
    try:
        _call(**request)
        return True
    except Error as error:
        _warn(error)
        return False


def _wait_for_end(path):
    """Returns when the platform will not end us: it can't be reached, or took too long."""
    for attempt in range(GO_SUSPEND_TRIES):
        try:
            # Its own connection: other threads may go on polling while this one waits.
            with _channel.connect(path) as connection:
                _channel.exchange(connection, {"op": "go_suspend"})
                deadline = time.monotonic() + END_WAIT_SECONDS_MAX
                connection.settimeout(END_WAIT_SECONDS_MAX)
                while time.monotonic() < deadline and connection.recv(4096):
                    pass
                return
        except Error as error:
            _warn(error)
            return
        except (OSError, ValueError) as error:
            _warn(f"go_suspend: socket {path}: {error}")
            if attempt + 1 < GO_SUSPEND_TRIES:
                time.sleep(0.2)


def _suspend_exit_code():
    try:
        code = int(os.environ.get("HAI_SUSPEND_EXIT_CODE", ""))
    except ValueError:
        return SUSPEND_EXIT_CODE
    return code if 0 < code < 256 else SUSPEND_EXIT_CODE


def _simulated_suspend():
    """HAI's local simulation: the suspend command arrives SIMULATE_SUSPEND seconds after the
    import."""
    if os.environ.get("HFAI_SIMULATE") != "1":
        return False
    try:
        after = int(os.environ.get("SIMULATE_SUSPEND", "-1"))
    except ValueError:
        return False
    return 0 < after < time.monotonic() - _imported_at


def _warn(error):
    """Once a minute per text: a shim that is gone would else fill the log, one line per step."""
    text, now = str(error), time.monotonic()
    if now - _warned_at.get(text, -WARN_PERIOD_SECONDS) < WARN_PERIOD_SECONDS:
        return
    if len(_warned_at) >= WARN_TEXTS_MAX:
        _warned_at.clear()
    _warned_at[text] = now
    try:
        print(f"hai: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass
