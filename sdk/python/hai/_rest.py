"""Calls of hai-server over REST, with the standard library alone.

A server that does not lead names the one that does; while none answers or leads, the next one is
tried until PATIENCE_SECONDS are over. What makes a job carries a key, so that trying it again never
makes a second one.
"""

import http.client
import json
import ssl
import time
import urllib.parse
import uuid

from . import _context
from ._channel import Error, Refused, Unreachable

TIMEOUT_SECONDS = 30.0
PATIENCE_SECONDS = 30.0
PAUSE_SECONDS = 0.5
REDIRECTS_MAX = 4
TRY_AGAIN = (429, 502, 503)


class NotFound(Refused):
    """There is no such job."""


class Rest:
    def __init__(self, context=None):
        self._context = context or _context.current()

    def get(self, path, **query):
        return self.call("GET", path, query)

    def post(self, path, body=None, **query):
        return self.call("POST", path, query, body)

    def submit(self, path, text):
        """`text`: a job file, YAML or JSON."""
        return self.call("POST", path, {}, text, key=uuid.uuid4().hex)

    def rerun(self, job):
        """The id of a new job with the spec of this one."""
        key = uuid.uuid4().hex
        return self.call("POST", f"/jobs/{job}/rerun", {}, {"request_id": key}, key=key)["job_id"]

    def text(self, path, **query):
        """The answer as it is, in bytes, and its headers."""
        return self._answer("GET", path, query, None, "")

    def call(self, method, path, query, body=None, key=""):
        """`key`: under which the server does this once, however often it is asked."""
        answer, _ = self._answer(method, path, query, body, key)
        try:
            return json.loads(answer) if answer else {}
        except ValueError as error:
            raise Unreachable(f"{method} {path}: the answer is no JSON: {error}") from error

    def _answer(self, method, path, query, body, key):
        pairs = [(name, value) for name, value in query.items() if value is not None]
        target = "/api/v1" + path
        if pairs:
            target += "?" + urllib.parse.urlencode(pairs, doseq=True)
        data = body if isinstance(body, (bytes, type(None))) else _encoded(body)
        headers = {"Authorization": f"Bearer {self._context.token}"}
        if key:
            headers["Idempotency-Key"] = key
        if data is not None:
            headers["Content-Type"] = (
                "application/yaml" if isinstance(body, str) else "application/json"
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        server = 0
        while True:
            try:
                return self._once(self._context.servers[server], method, target, data, headers)
            except Unreachable:
                if time.monotonic() + PAUSE_SECONDS > deadline:
                    raise
            server = (server + 1) % len(self._context.servers)
            if server == 0:
                time.sleep(PAUSE_SECONDS)  # all of them were asked: give a failover its time

    def _once(self, server, method, target, data, headers):
        for _ in range(REDIRECTS_MAX):
            status, answer, told = self._exchange(server, method, target, data, headers)
            if status != 307:
                return _checked(status, answer), told
            location = told.get("Location", "")
            leader = urllib.parse.urlsplit(location)
            if leader.scheme != urllib.parse.urlsplit(server).scheme:
                raise Refused(f"{server} sends to {location}, which is not as safe")
            server = f"{leader.scheme}://{leader.netloc}"
        raise Unreachable(f"{server}: sends from server to server")

    def _exchange(self, server, method, target, data, headers):
        url = urllib.parse.urlsplit(server)
        try:
            if url.scheme == "https":
                connection = http.client.HTTPSConnection(
                    url.netloc, timeout=TIMEOUT_SECONDS, context=self._context.tls
                )
            else:
                connection = http.client.HTTPConnection(url.netloc, timeout=TIMEOUT_SECONDS)
        except (ValueError, http.client.InvalidURL) as error:
            raise Error(f"{server} is no address of a server: {error}") from error
        is_harmless = method == "GET" or "Idempotency-Key" in headers
        has_been_sent = False
        try:
            connection.connect()
            has_been_sent = True
            connection.request(method, target, body=data, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        except ssl.SSLCertVerificationError as error:
            raise Error(f"{server}: its certificate is not believed: {error}") from error
        except (OSError, http.client.HTTPException) as error:
            if has_been_sent and not is_harmless:
                raise Error(
                    f"{server} did not answer: look whether it was done: {error}"
                ) from error
            raise Unreachable(f"{server} does not answer: {error}") from error
        finally:
            connection.close()


def _encoded(body):
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _checked(status, answer):
    if status < 300:
        return answer
    text = _reason(answer) or f"HTTP {status}"
    if status in TRY_AGAIN:
        raise Unreachable(text)
    raise (NotFound if status == 404 else Refused)(text)


def _reason(answer):
    """Of problem+json: its sentence, and each field that is wrong."""
    try:
        problem = json.loads(answer)
        parts = [problem.get("detail") or problem.get("title") or ""]
        parts += [
            f"{error.get('path', '')}: {error.get('message', '')}"
            for error in problem.get("errors") or []
        ]
        return "; ".join(dict.fromkeys(part for part in parts if part))
    except (ValueError, AttributeError):
        return answer.decode(errors="replace").strip()[:200]
