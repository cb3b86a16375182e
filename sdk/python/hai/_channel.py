"""One persistent connection to the rank's shim: a line of JSON out, a line of JSON back.

A Channel belongs to one process (see `current`): a forked child makes its own, since two processes
on one connection would read each other's answers. In a process one request is in flight at a time.
"""

import json
import os
import socket
import threading
import time

TIMEOUT_SECONDS = 5.0
LINE_BYTES_MAX = 512 << 10  # as the shim has it


class Error(Exception):
    """A call to hai failed."""


class Unreachable(Error):
    """hai did not answer, or not in a way that makes sense."""


class Refused(Error):
    """hai understood the call and said no; the text says why."""


def connect(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(TIMEOUT_SECONDS)
        connection.connect(path)
    except BaseException:
        connection.close()
        raise
    return connection


def exchange(connection, request):
    """One request and its answer. After any exception the connection is out of step: close it."""
    line = json.dumps(request).encode() + b"\n"
    if len(line) > LINE_BYTES_MAX:
        raise Refused(f"{request['op']}: request of {len(line)} bytes, at most {LINE_BYTES_MAX}")
    deadline = time.monotonic() + TIMEOUT_SECONDS
    connection.settimeout(TIMEOUT_SECONDS)
    connection.sendall(line)
    return _checked(request["op"], _read_line(connection, deadline))


def _read_line(connection, deadline):
    received = b""
    while not received.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        connection.settimeout(left)
        chunk = connection.recv(65536)
        if not chunk:
            raise ConnectionError("connection closed before the answer")
        received += chunk
        if len(received) > LINE_BYTES_MAX:
            raise ValueError(f"answer longer than {LINE_BYTES_MAX} bytes")
    # One request gets one answer: anything more would be taken for the answer to the next request.
    if received.count(b"\n") != 1:
        raise ValueError("more than one answer")
    return received


def _checked(op, line):
    answer = json.loads(line.decode())
    if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
        raise ValueError(f"answer without ok: {line[:80]!r}")
    if not answer["ok"]:
        raise Refused(f"{op}: {answer.get('error', 'refused without a reason')}")
    return answer


class Channel:
    def __init__(self, path):
        self.path = path
        self.pid = os.getpid()
        self._lock = threading.RLock()
        self._in_flight = False
        self._connection = None

    def call(self, request):
        """The answer. Every request may be repeated without harm, so a broken connection (the shim
        was upgraded, say) costs one silent reconnect; a second failure is the caller's to know."""
        with self._lock:
            if self._in_flight:
                # A signal handler interrupted this thread inside a call: leave its connection
                # alone.
                return Channel(self.path).call(request)
            self._in_flight = True
            try:
                return self._call_twice(request)
            finally:
                self._in_flight = False

    def _call_twice(self, request):
        reused = self._connection is not None
        try:
            return self._call_once(request)
        except Refused:
            raise
        except socket.timeout as error:
            why = f"no answer within {TIMEOUT_SECONDS:g} s"
            raise Unreachable(self._text(request, why)) from error
        except (OSError, ValueError) as error:
            if not reused:
                raise Unreachable(self._text(request, error)) from error
        try:
            return self._call_once(request)
        except (OSError, ValueError) as error:
            raise Unreachable(self._text(request, error)) from error

    def _call_once(self, request):
        try:
            if self._connection is None:
                self._connection = connect(self.path)
            return exchange(self._connection, request)
        except Refused:
            raise  # The connection itself is in order.
        except BaseException:
            self.close()
            raise

    def close(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __del__(self):
        self.close()

    def _text(self, request, why):
        return f"{request['op']}: socket {self.path}: {why}"


_current = None


def current(path):
    """This process's channel to `path`. Takes no lock: a lock might be held by a thread that does
    not exist in a forked child, and two threads that race here merely make one channel too many."""
    global _current
    channel = _current
    if channel is None or channel.path != path or channel.pid != os.getpid():
        _current = channel = Channel(path)
    return channel
