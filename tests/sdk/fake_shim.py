"""A shim of one thread per connection: answers the in-job protocol as told by the test."""

import json
import os
import shutil
import socket
import tempfile
import threading
import time


class FakeShim:
    """`requests` is what came, in order. `answers` overrides the answer of an op: a dict, bytes
    sent as they are, or None to close the connection instead."""

    def __init__(self, on_go_suspend=None):
        self.folder = tempfile.mkdtemp(prefix="hai-shim-")  # Short: socket paths have 107 bytes.
        self.path = os.path.join(self.folder, "s")
        self.requests, self.answers = [], {}
        self.suspend, self.state = False, ""
        self.connections_made = 0
        self.on_go_suspend = on_go_suspend
        self.lock = threading.Lock()
        self._open = []
        self.listen()

    def listen(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.path)
        listener.listen(64)
        self.listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def vanish(self):
        """As if killed: no socket, no connections."""
        os.unlink(self.path)
        self.drop_connections()
        self.listener.shutdown(socket.SHUT_RDWR)  # Wakes the accept; a close alone would not.
        self.listener.close()

    def drop_connections(self):
        with self.lock:
            doomed, self._open = self._open, []
        for connection in doomed:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        if os.path.exists(self.path):
            self.vanish()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ops(self):
        with self.lock:
            return [request["op"] for request in self.requests]

    def wait_for(self, op, seconds=10.0):
        deadline = time.monotonic() + seconds
        while op not in self.ops():
            if time.monotonic() > deadline:
                raise AssertionError(f"no {op} within {seconds} s, only {self.ops()[-5:]}")
            time.sleep(0.005)

    def last(self, op):
        with self.lock:
            return next((r for r in reversed(self.requests) if r["op"] == op), None)

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections_made += 1
                self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection, connection.makefile("r") as lines:
                for line in lines:
                    answer = self._answer(json.loads(line))
                    if answer is None:
                        break
                    connection.sendall(answer)
        except (OSError, ValueError):
            pass  # The program went away, or the test cut the connection.

    def _answer(self, request):
        op = request["op"]
        with self.lock:
            self.requests.append(request)
            answer = self.answers.get(op, "none")
            if answer == "none":
                answer = self._plain_answer(op, request)
        if op == "go_suspend" and self.on_go_suspend:
            self.on_go_suspend()
        return json.dumps(answer).encode() + b"\n" if isinstance(answer, dict) else answer

    def _plain_answer(self, op, request):
        if op == "receive_suspend_command":
            return {"ok": True, "suspend": self.suspend}
        if op == "get_whole_life_state":
            return {"ok": True, "state": self.state}
        if op == "set_whole_life_state":
            self.state = request["state"]
        return {"ok": True}
