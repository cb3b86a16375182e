"""What people do: HTTP requests to whichever server leads, with their own tokens, and `hai`."""

import http.client
import json
import os
import ssl
import subprocess
import time


class Refused(Exception):
    """A server understood and said no: the last word."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class Unknown(Exception):
    """No answer within the time: it may have happened or not."""


class Client:
    def __init__(self, servers, token, ca, timeout=4):
        self.servers, self.token, self.timeout = list(servers), token, timeout
        self.believes = ssl.create_default_context(cafile=ca)

    def call(self, method, path, body=None, key=None, seconds=10):
        """The answer of the leader. Repeats itself where that is harmless: reads, what carries a
        request id, and what a server has said it did not do."""
        deadline = time.monotonic() + seconds
        error = "no server"
        while True:
            for server in list(self.servers):
                try:
                    status, text = self.ask(server, method, path, body, key)
                except (OSError, http.client.HTTPException) as failure:
                    error = f"{server}: {failure!r}"
                    self.servers.append(self.servers.pop(0))
                    continue
                if status < 300:
                    return json.loads(text) if text else None
                if status not in (503, 504, 307, 308):
                    raise Refused(status, text)
                error = f"{server}: {status} {text}"
                self.servers.append(self.servers.pop(0))
            if time.monotonic() > deadline:
                raise Unknown(error)
            time.sleep(0.1)

    def ask(self, server, method, path, body, key):
        connection = http.client.HTTPSConnection(
            server, timeout=self.timeout, context=self.believes
        )
        try:
            headers = {"Authorization": f"Bearer {self.token}"}
            if key:
                headers["Idempotency-Key"] = key
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def text(self, path, seconds=15):
        """A page of plain text from the leader."""
        deadline = time.monotonic() + seconds
        while True:
            error = ""
            for server in list(self.servers):
                try:
                    status, text = self.ask(server, "GET", path, None, None)
                except (OSError, http.client.HTTPException) as failure:
                    error = repr(failure)
                else:
                    if status == 200:
                        return text
                    error = f"{status} {text}"
                    if status not in (503, 504, 307, 308):
                        raise Refused(status, text)
                self.servers.append(self.servers.pop(0))
            if time.monotonic() > deadline:
                raise Unknown(error)
            time.sleep(0.1)

    def jobs(self):
        """All jobs there are, of all users (an administrator's view)."""
        found, cursor = [], ""
        while True:
            page = self.call("GET", f"/api/v1/jobs?finished=true&limit=1000{cursor}", seconds=30)
            found += page["jobs"]
            if not page.get("next_cursor"):
                return found
            cursor = f"&cursor={page['next_cursor']}"


class Hai:
    """The command line, with a config file of its own."""

    def __init__(self, program, config):
        self.program = program
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HAI_")}
        self.environment = {**kept, "HAI_CONFIG": str(config), "LANG": "C.UTF-8"}

    def run(self, *words, stdin=None, seconds=60):
        return subprocess.run(
            [str(self.program), *map(str, words)],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env=self.environment,
        )

    def ok(self, *words, **options):
        done = self.run(*words, **options)
        if done.returncode != 0:
            raise AssertionError(f"hai {' '.join(map(str, words))}: {done.returncode} {done.stderr}")
        return done.stdout
