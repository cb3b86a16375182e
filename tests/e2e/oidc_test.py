"""Signing in at an identity provider: with a browser, and with `hai login` on a machine that has
none. The other side is npm's certified oidc-provider, on loopback.
"""

import json
import re
import shutil
import subprocess
import unittest
import urllib.parse

from cluster import eventually, programs
from identity import FOLDER, Browser, IdentityProvider
from servers import Servers, ServersTest

SECRET = "secret-of-the-client-" + "c3" * 16
OIDC = "/api/v1/oidc"


class OidcServers(Servers):
    def __init__(self, provider_host="127.0.0.1", web_root="none"):
        super().__init__(count=1, nodes=0)
        self.web_root = web_root
        self.callback = f"http://127.0.0.1:{self.servers[0].http}{OIDC}/callback"
        self.provider = IdentityProvider(
            client={
                "client_id": "hai",
                "client_secret": SECRET,
                "redirect_uris": [self.callback],
                "response_types": ["code"],
                "grant_types": [
                    "authorization_code",
                    "urn:ietf:params:oauth:grant-type:device_code",
                ],
            },
            host=provider_host,
            groups={"ann": ["ml", "/physics"], "olga": ["ops"], "alex": ["hai-admins"]},
        )
        secret = self.root / "oidc.secret"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o600)

    def server_config(self, server):
        return (
            super().server_config(server)
            + f"""
oidc:
  issuer: {self.provider.issuer}
  client_id: hai
  client_secret_file: {self.root}/oidc.secret
  admin_groups: [hai-admins]
  operator_groups: [ops]
  name: Example University
web_root: {self.web_root}
"""
        )

    def close(self):
        self.provider.stop()
        super().close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.servers[0].http}"

    def begin(self, browser, next="/api/v1/whoami"):
        """To the provider's first page."""
        return browser.open(f"{self.url}{OIDC}/login?" + urllib.parse.urlencode({"next": next}))

    def sign_in(self, user, browser=None):
        """The page in the end."""
        browser = browser or Browser()
        return browser.sign_in(self.begin(browser), user)

    def until_callback(self, user, browser):
        """Up to the address to which the provider sends the browser back."""
        return browser.sign_in(self.begin(browser), user, until=self.callback).url


class OidcTest(ServersTest):
    make = OidcServers

    @classmethod
    def prepare(cls):
        cls.cluster.provider.start()

    def who(self, page):
        self.assertEqual(page.status, 200, page.text)
        return json.loads(page.text)

    def refused(self, page, status, words):
        """A page with one sentence for people."""
        self.assertEqual(page.status, status, page.text)
        self.assertIn("text/html", page.headers["Content-Type"])
        self.assertIn(words, page.text)
        self.assertEqual(page.headers["Cache-Control"], "no-store")

    # -- with a browser

    def test_a_person_signs_in_and_is_who_the_provider_says(self):
        browser = Browser()
        page = self.cluster.sign_in("ann", browser)
        who = self.who(page)
        self.assertEqual(page.url, f"{self.cluster.url}/api/v1/whoami")
        self.assertEqual((who["user"], who["role"]), ("ann", "user"))
        self.assertEqual(who["groups"], ["ml", "physics"])
        session = browser.cookie("hai_session")
        self.assertTrue(session.has_nonstandard_attr("HttpOnly"))
        self.assertEqual(session.get_nonstandard_attr("SameSite"), "Strict")
        self.assertIsNone(browser.cookie("hai_oidc"), "the ticket is taken away")
        # Neither codes nor tokens stay in an address that is shown.
        self.assertNotIn("code=", page.url)
        self.assertNotIn("hai_", " ".join(browser.visited))
        # Who came in stands in the audit log, and that somebody tried with nothing.
        Browser().open(f"{self.cluster.url}/api/v1/oidc/callback?state=x&code=y")

        def audited():
            entries = self.cluster.json("audit", "--call", "SignIn")
            return {(entry["user"], entry["result"] == "ok") for entry in entries}

        eventually("both are in the audit", lambda: audited() >= {("ann", True), ("", False)})

    def test_groups_make_roles(self):
        self.assertEqual(self.who(self.cluster.sign_in("olga"))["role"], "operator")
        self.assertEqual(self.who(self.cluster.sign_in("alex"))["role"], "admin")
        # And take them.
        self.cluster.provider.groups["alex"] = []
        self.addCleanup(self.cluster.provider.groups.update, alex=["hai-admins"])
        self.cluster.provider.restart(bare=True)  # what the ID token lacks is asked for
        who = self.who(self.cluster.sign_in("alex"))
        self.assertEqual((who["role"], who["groups"]), ("user", []))

    def test_new_keys_of_the_provider_are_believed_at_once(self):
        self.who(self.cluster.sign_in("ann"))
        self.cluster.provider.restart(algorithm="ES256")
        self.who(self.cluster.sign_in("ann"))

    def test_who_is_not_active_stays_out(self):
        self.who(self.cluster.sign_in("bob"))
        self.cluster.ok("user", "set", "bob", "--active", "no")
        self.refused(self.cluster.sign_in("bob"), 403, "not active")

    def test_a_person_who_does_not_agree_is_told_so(self):
        browser = Browser()
        page = browser.open(
            f"{self.cluster.url}{OIDC}/callback?error=access_denied&state=x&iss=whatever"
        )
        self.refused(page, 403, "the identity provider refused it")
        page = browser.open(f"{self.cluster.url}{OIDC}/callback?error=%3Cscript%3Ealert(1)")
        self.refused(page, 409, "&lt;script&gt;")

    # -- attacks

    def test_the_way_back_is_only_for_who_went(self):
        victim, attacker = Browser(), Browser()
        url = self.cluster.until_callback("ann", attacker)
        self.assertTrue(url.startswith(self.cluster.callback + "?"), url)
        # Who is made to follow it has not begun, or has begun another sign-in.
        self.refused(victim.open(url), 401, "begin again")
        self.cluster.begin(victim)
        self.refused(victim.open(url), 401, "begin again")
        self.assertIsNone(victim.cookie("hai_session"))
        # A state that was changed.
        other = re.sub(r"state=[^&]*", "state=" + "A" * 43, url)
        self.refused(attacker.open(other), 401, "begin again")

    def test_a_code_is_good_once(self):
        browser = Browser()
        url = self.cluster.until_callback("ann", browser)
        ticket = browser.cookie("hai_oidc")
        self.who(browser.open(url))
        browser.cookies.set_cookie(ticket)
        self.refused(browser.open(url), 401, "begin again")

    def test_a_code_of_another_sign_in_is_refused(self):
        """Even with the state of the own one: its verifier and nonce are others."""
        attacker, browser = Browser(), Browser()
        stolen = urllib.parse.urlparse(self.cluster.until_callback("olga", attacker)).query
        own = self.cluster.until_callback("ann", browser)
        code = urllib.parse.parse_qs(stolen)["code"][0]
        self.refused(browser.open(re.sub(r"code=[^&]*", "code=" + code, own)), 401, "begin again")
        self.assertIsNone(browser.cookie("hai_session"))

    def test_another_issuer_is_refused(self):
        browser = Browser()
        url = self.cluster.until_callback("ann", browser)
        self.assertIn("iss=", url)
        url = re.sub(r"iss=[^&]*", "iss=https%3A%2F%2Fevil.example", url)
        self.refused(browser.open(url), 401, "another identity provider")

    def test_nobody_is_sent_to_another_host(self):
        for next in ("//evil.example", "https://evil.example/", "/\\evil.example", "evil", "/\t/evil",
                     "/" + "a" * 2000, "javascript:alert(1)", "/%0d%0aSet-Cookie: a=b\r\n"):  # fmt: skip
            page = Browser().fetch(
                f"{self.cluster.url}{OIDC}/login?" + urllib.parse.urlencode({"next": next})
            )
            self.assertEqual(page.status, 400, (next, page.text))

    def test_the_ticket_is_for_this_way_only(self):
        browser = Browser()
        page = browser.fetch(f"{self.cluster.url}{OIDC}/login")
        cookie = page.headers["Set-Cookie"]
        for part in ("hai_oidc=", "HttpOnly", "SameSite=Lax", f"Path={OIDC}", "Max-Age=600"):
            self.assertIn(part, cookie)
        query = urllib.parse.parse_qs(urllib.parse.urlparse(page.headers["Location"]).query)
        self.assertEqual(query["code_challenge_method"], ["S256"])
        # What is kept in it cannot be read by who has it.
        for secret in (query["nonce"][0], query["state"][0]):
            self.assertNotIn(secret, cookie)

    # -- without a browser

    def login(self, *words, user="ann", answers=None):
        """`hai login`, agreed to by that person in a browser elsewhere; the finished process."""
        process = self.cluster.start_hai("login", *words)
        said = process.stderr.readline() + process.stderr.readline()
        url = re.search(r"open (\S+) in a browser", said)
        self.assertTrue(url, said)
        code = re.search(r"the code (\S+)", said)[1]
        browser = Browser()
        page = browser.open(url[1])
        self.assertIn(code.replace("-", ""), page.text.replace("-", ""))
        browser.sign_in(page, user, answers=answers)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def other(self):
        """Another person's own file of contexts."""
        path = self.cluster.root / f"{self.id()}.json"
        return path

    def test_a_terminal_signs_in_and_out(self):
        config = self.cluster.root / "config.json"
        before = config.read_text()
        self.addCleanup(config.write_text, before)
        grpc = f"grpc://127.0.0.1:{self.cluster.servers[0].grpc}"
        code, out, err = self.login("--url", grpc, "--name", "signed")
        self.assertEqual(code, 0, err)
        self.assertIn("you are ann (user) on signed until ", out)
        self.assertEqual(config.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.cluster.json("whoami")["user"], "ann")
        # Again, for somebody else, at the same cluster.
        code, out, err = self.login(user="olga")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.cluster.json("whoami")["role"], "operator")
        kept = json.loads(config.read_text())
        token = next(c["token"] for c in kept["contexts"] if c["name"] == "signed")
        self.assertEqual(self.cluster.ok("logout"), "signed out of signed\n")
        self.assertNotIn(token, config.read_text())
        self.assertEqual(self.cluster.hai("whoami").code, 4)
        status, _, _ = self.cluster.servers[0].get(
            "/api/v1/whoami", headers={"Authorization": f"Bearer {token}"}
        )
        self.assertEqual(status, 401, "the session has ended on the server, too")
        self.assertIn("not signed in", self.cluster.hai("logout").err)

    def test_a_device_that_nobody_agreed_to_gets_nothing(self):
        config = self.cluster.root / "config.json"
        before = config.read_text()
        code, out, err = self.login(answers={"abort": "yes"})
        self.assertEqual((code, out), (4, ""), err)
        self.assertIn("refused", err)
        self.assertEqual(config.read_text(), before)

    def test_made_up_device_codes_are_refused(self):
        for code in ("x", "A" * 200, ""):
            status, _, text = self.cluster.servers[0].get(
                "/api/v1/session", "POST", json.dumps({"device_code": code}),
                {"Content-Type": "application/json", "Authorization": ""},
            )  # fmt: skip
            self.assertEqual(status, 401, text)


class OidcAwayTest(ServersTest):
    """What is begun ends with the server; and a provider that is away holds nobody up."""

    make = OidcServers  # without the provider

    def test_the_provider_comes_later_and_the_server_goes(self):
        page = Browser().fetch(f"{self.cluster.url}{OIDC}/login")
        self.assertEqual(page.status, 503, page.text)
        result = self.cluster.hai("login")
        self.assertEqual(result.code, 5, result)
        # Everything else goes on.
        self.assertEqual(self.cluster.json("whoami")["user"], "root")
        self.cluster.provider.start(algorithm="EdDSA")
        eventually(
            "it is asked again",
            lambda: Browser().fetch(f"{self.cluster.url}{OIDC}/login").status == 302,
        )
        browser = Browser()
        url = self.cluster.until_callback("ann", browser)
        self.cluster.servers[0].kill()
        self.cluster.servers[0].start()
        eventually("a server leads", self.cluster.leader)
        page = browser.open(url)
        self.assertEqual(page.status, 401, page.text)
        self.assertIn("begin again", page.text)
        self.assertEqual(json.loads(self.cluster.sign_in("ann").text)["user"], "ann")


@unittest.skipUnless(shutil.which("chromium-headless-shell"), "no Chromium")
class OidcChromiumTest(ServersTest):
    """In a real browser, to which the provider is another site: `localhost`, not 127.0.0.1."""

    @classmethod
    def make(cls):
        dashboard = programs().parent / "share" / "hai" / "web"
        cls.has_dashboard = (dashboard / "index.html").exists()
        return OidcServers("localhost", dashboard if cls.has_dashboard else "none")

    @classmethod
    def prepare(cls):
        cls.cluster.provider.start()

    def test_the_browser_comes_back_signed_in_and_scripts_see_no_secret(self):
        button = "Sign in with Example University" if self.has_dashboard else ""
        # The dashboard sends whoever is no administrator on to what is his.
        end = self.cluster.url + ("/mine" if self.has_dashboard else "/")
        words = [self.cluster.provider.node, str(FOLDER / "chromium.mjs"), self.cluster.url]
        done = subprocess.run(
            [*words, "ann", button, end], capture_output=True, text=True, timeout=180
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen["who"]["user"], "ann")
        self.assertEqual(seen["url"], end)
        self.assertEqual(seen["cookie"], "")
        self.assertNotIn("hai_", seen["kept"])


if __name__ == "__main__":
    unittest.main()
