"""An identity provider for tests (npm's oidc-provider, in oidc/), and a browser for people to sign in
with: it keeps cookies, follows where it is sent, and fills in forms.
"""

import html.parser
import http.cookiejar
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from cluster import HERE, programs
from servers import free_port

FOLDER = HERE / "oidc"
NODE_OLDEST = 20


def node():
    """Debian's Node.js, or that which the dashboard's build has fetched."""
    fetched = programs().parent / "node" / "bin" / "node"
    for program in (os.environ.get("HAI_NODE"), shutil.which("node"), str(fetched)):
        if program and pathlib.Path(program).exists():
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            version = re.match(r"v(\d+)", said)
            if version and int(version[1]) >= NODE_OLDEST:
                return program
    raise AssertionError(f"no Node.js {NODE_OLDEST} or newer: deploy/install_packages.sh, ninja web")


class IdentityProvider:
    """On a port of its own, which stays the same when it is started anew, as its key does; sessions
    there do not."""

    def __init__(self, client, groups, host="127.0.0.1"):
        if not (FOLDER / "node_modules" / "oidc-provider").exists():
            raise AssertionError("tests/e2e/oidc has no packages: npm ci there")
        self.node, self.port = node(), free_port()
        self.client, self.groups, self.host = client, groups, host
        self.process, self.key, self.starts = None, None, 0

    @property
    def issuer(self):
        return f"http://{self.host}:{self.port}"

    def start(self, algorithm=None, bare=False):
        """`algorithm`: with a new key for that."""
        self.starts += 1
        if algorithm or not self.key:
            self.key, algorithm = None, algorithm or "RS256"
        told = {"issuer": self.issuer, "port": self.port, "client": self.client, "groups": self.groups, "bare": bare,
                "algorithm": algorithm, "key": self.key, "kid": f"key-{self.starts}"}  # fmt: skip
        self.process = subprocess.Popen(
            [self.node, str(FOLDER / "provider.mjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.process.stdin.write(json.dumps(told))
        self.process.stdin.close()
        said = self.process.stdout.readline()
        if not said:
            raise AssertionError("the identity provider did not start")
        self.key = json.loads(said)
        return self

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def restart(self, **options):
        self.stop()
        self.start(**options)


class Form(html.parser.HTMLParser):
    """The first form of a page: where it goes and what is in it."""

    def __init__(self, text):
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = attributes.get("action", "")
        if tag == "input" and attributes.get("name"):
            self.fields[attributes["name"]] = attributes.get("value") or ""


class Page:
    def __init__(self, answer):
        self.status, self.url = answer.status, answer.url
        self.headers, self.text = answer.headers, answer.read().decode(errors="replace")


class StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    def __init__(self):
        self.cookies = http.cookiejar.CookieJar()
        self.visited = []
        keep = urllib.request.HTTPCookieProcessor(self.cookies)
        self.opener = urllib.request.build_opener(keep, StayHere())

    def fetch(self, url, fields=None):
        """One request; what it answers, wherever that sends one."""
        self.visited.append(url)
        data = urllib.parse.urlencode(fields).encode() if fields is not None else None
        try:
            return Page(self.opener.open(urllib.request.Request(url, data), timeout=30))
        except urllib.error.HTTPError as error:
            with error:
                return Page(error)

    def open(self, url, fields=None, until=None):
        """The page in the end. `until`: stops before it asks for an address of that beginning."""
        for _ in range(20):
            page = self.fetch(url, fields)
            if page.status not in (301, 302, 303, 307):
                return page
            url, fields = urllib.parse.urljoin(url, page.headers["Location"]), None
            if until and url.startswith(until):
                page.url = url
                return page
        raise AssertionError(f"sent on and on: {self.visited}")

    def sign_in(self, page, user, until=None, answers=None):
        """Fills in the provider's forms as that person, up to a page without one."""
        for _ in range(10):
            form = Form(page.text)
            if form.action is None or (until and page.url.startswith(until)):
                return page
            if form.fields.get("user_code") == "":  # it wants the code of another device
                return page
            if "login" in form.fields:
                form.fields.update(login=user, password="x")
            form.fields.update(answers or {})
            page = self.open(urllib.parse.urljoin(page.url, form.action), form.fields, until)
        raise AssertionError(f"forms without end: {page.url} {page.text}")

    def cookie(self, name):
        return next((cookie for cookie in self.cookies if cookie.name == name), None)
