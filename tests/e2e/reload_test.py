"""A server whose config is changed while it serves, and SIGHUP."""

import os
import signal
import unittest

from bare_site import Site
from cluster import eventually


@unittest.skipUnless(os.geteuid() == 0, "makes files and databases for other users: needs root")
class ReloadTest(unittest.TestCase):
    def setUp(self):
        self.site = Site()
        self.addCleanup(self.site.close)
        self.addCleanup(self.site.clean)

    def test_sighup_takes_what_may_change(self):
        site = self.site
        site.set_up()
        server = site.start_server()
        site.admit()
        log = sorted(site.root.glob("hai-server-*.log"))[-1]

        def reload(event, *parts):
            count = log.read_text().count(event)
            server.send_signal(signal.SIGHUP)
            eventually(f"{event} is said", lambda: log.read_text().count(event) > count, 20)
            line = [line for line in log.read_text().splitlines() if event in line][-1]
            for part in parts:
                self.assertIn(part, line)

        create = ["token", "create", "--ttl", "3h"]
        self.assertEqual(site.hai(*create).code, 0)
        kept = site.config().read_text()
        site.config().write_text(kept + "tokens: {ttl: 1h, ttl_max: 2h}\nstatus_page: true\n")
        reload("config_reloaded", "taken=tokens.ttl,tokens.ttl_max", "wait_for_restart=status_page")
        refused = site.hai(*create)
        self.assertEqual(refused.code, 4, refused.err)
        self.assertIn("2h", refused.err)
        # What waits is named as long as it does; with an error nothing changes.
        site.config().write_text(kept + "status_page: true\n")
        reload("config_reloaded", "taken=tokens.ttl,tokens.ttl_max", "wait_for_restart=status_page")
        self.assertEqual(site.hai(*create).code, 0)
        site.config().write_text(kept + "tokens: {ttl: 1h, ttl_max: 2h}\nno_such_key: 1\n")
        reload("config_not_reloaded", "no_such_key: unknown key")
        self.assertEqual(site.hai(*create).code, 0)
        site.config().write_text(kept)
        reload("config_unchanged")
        self.assertIsNone(server.poll())


if __name__ == "__main__":
    unittest.main()
