"""Bad input to every verb there is: exactly one line on standard error that names what is wrong,
nothing on standard output, the exit code of its kind, and no event that a person caused.

The table is held against `hai --help`, so that a new verb without a row is a failure."""

import re
import unittest

from cluster import ClusterTest

USAGE, NOT_FOUND, REFUSED, UNREACHABLE = 2, 3, 4, 5

# verb: [(words after it, exit code, what the line must say), ...]
TABLE = {
    "run": [
        ("", USAGE, "needs FILE"),
        ("nowhere.yaml", USAGE, "nowhere.yaml"),
        ("good.yaml -n 0", USAGE, "--nodes: '0'"),
        ("good.yaml -p hihg", USAGE, "did you mean high?"),
        ("good.yaml -o jsn", USAGE, "did you mean json?"),
        ("good.yaml -g trainng", REFUSED, "training"),
        ("good.yaml --venv ../x:y", USAGE, "--venv: "),
        ("good.yaml --grup training", USAGE, "did you mean --group?"),
    ],
    "python": [("nowhere.py -- -n 1", USAGE, "nowhere.py"), ("-- -n 1", USAGE, "nothing to run")],
    "bash": [("nowhere.sh -- -n 1", USAGE, "nowhere.sh"), ("", USAGE, "nothing to run")],
    "exec": [
        ("no-such-program -- -n 1", USAGE, "no-such-program"),
        ("true -- --launch per_gpus", USAGE, "did you mean per_gpu?"),
        ("true -- --depends-on doen", REFUSED, "no job named doen"),
    ],
    "list": [
        ("-s runing", USAGE, "did you mean running?"),
        ("--page 0", USAGE, "--page: '0'"),
        ("extra", USAGE, "'extra'"),
        ("-s", USAGE, "--state needs a value"),
    ],
    "status": [
        ("doen", NOT_FOUND, "did you mean done?"),
        ("99999", NOT_FOUND, "99999"),
        ("-w done done", USAGE, "one job"),
    ],
    "describe": [
        ("doen", NOT_FOUND, "did you mean done?"),
        ("noed-1", NOT_FOUND, "did you mean node-1?"),
        ("node/node-11", NOT_FOUND, "did you mean node-1?"),
        ("user/ann", USAGE, "user/ann"),
        ("incident/x", REFUSED, "'x'"),
        ("incident/99", NOT_FOUND, "99"),
        ("", USAGE, "needs THING"),
    ],
    "top": [
        ("", USAGE, "needs a terminal"),
        ("--filtr x", USAGE, "did you mean --filter?"),
        ("--once extra", USAGE, "'extra'"),
    ],
    "shell": [
        ("doen", NOT_FOUND, "did you mean done?"),
        ("", USAGE, "needs JOB"),
        ("done -- true", REFUSED, "is succeeded"),
        ("waits", REFUSED, "is queued"),
        ("waits -r x", USAGE, "--rank"),
        ("waits -t -T", USAGE, "--tty"),
    ],
    "ssh": [
        ("doen", NOT_FOUND, "did you mean done?"),
        ("waits", REFUSED, "is queued"),
        ("waits --config --proxy", USAGE, "--config"),
    ],
    "images": [
        ("--nodes node-[", USAGE, "node-["),
        ("--nodes node-9", NOT_FOUND, "node-9"),
        ("-o jsn", USAGE, "did you mean json?"),
        ("pul", USAGE, "did you mean pull?"),
    ],
    "images pull": [
        ("", USAGE, "needs IMAGE"),
        ("docker-daemon:box", USAGE, "nodes read no images of the kind docker-daemon"),
        ("oci:/data/box", USAGE, "only those of registries are pulled ahead"),
        ("box --nodes node-9", NOT_FOUND, "node-9"),
    ],
    "images prune": [("--keep much", USAGE, "--keep: "), ("--nodes node-9", NOT_FOUND, "node-9"), ("x", USAGE, "'x'")],
    "forward": [
        ("doen 80", NOT_FOUND, "did you mean done?"),
        ("waits 80", REFUSED, "is queued"),
        ("waits", USAGE, "needs PORT"),
        ("waits 80:x", USAGE, "PORT:HERE"),
        ("waits 0", USAGE, "PORT:HERE"),
    ],
    "logs": [
        ("doen", NOT_FOUND, "did you mean done?"),
        ("done -r -1", USAGE, "--rank"),
        ("done -r 7", NOT_FOUND, "ranks"),
        ("done --attempt 9", NOT_FOUND, "attempts"),
    ],
    "wait": [("doen", NOT_FOUND, "did you mean done?"), ("done --timeout soon", USAGE, "--timeout")],
    "why": [("doen", NOT_FOUND, "did you mean done?"), ("", USAGE, "needs JOB")],
    "queue": [("extra", USAGE, "'extra'")],
    "whatif": [("", USAGE, "submit, drain, quota, priority"), ("submt", USAGE, "mean submit?")],
    "whatif submit": [("nowhere.yaml", USAGE, "nowhere.yaml")],
    "whatif drain": [("node-99", NOT_FOUND, "node-99")],
    "whatif quota": [("ann training high -5", USAGE, "-5")],
    "whatif priority": [("doen high", NOT_FOUND, "doen"), ("waits hihg", USAGE, "mean high?")],
    "move": [
        ("waits", USAGE, "exactly one of"),
        ("waits --first --last", USAGE, "exactly one of"),
        ("wiats --first", NOT_FOUND, "did you mean waits?"),
        ("waits --before nobody", NOT_FOUND, "nobody"),
    ],
    "edit": [
        ("waits", USAGE, "needs one of"),
        ("wiats --timeout 1h", NOT_FOUND, "did you mean waits?"),
        ("waits --timeout soon", REFUSED, "timeout"),
        ("waits --begin-at soon", USAGE, "--begin-at"),
        ("done --timeout 1h", NOT_FOUND, "done"),
    ],
    "rerun": [
        ("doen", NOT_FOUND, "did you mean done?"),
        ("", USAGE, "needs JOB"),
        ("done 17_[1-", REFUSED, "17_[1-"),
        ("1-99 -f", USAGE, "for one job"),
    ],
    "priority": [
        ("waits hihg", USAGE, "did you mean high?"),
        ("wiats high", NOT_FOUND, "did you mean waits?"),
        ("waits", USAGE, "needs PRIORITY"),
    ],
    "events": [
        ("--count 0", USAGE, "--count"),
        ("--node node-99", NOT_FOUND, "node-99"),
        ("--after x", USAGE, "--after"),
        ("doen", NOT_FOUND, "did you mean done?"),
        ("--kind job_finishd", REFUSED, "did you mean job_finished?"),
    ],
    "audit": [
        ("--since soon", USAGE, "--since"),
        ("--result denid", REFUSED, "denid"),
        ("-n 0", USAGE, "--count"),
    ],
    "login": [("x", USAGE, "'x'"), ("--url nowhere", REFUSED, "nowhere")],
    "logout": [("x", USAGE, "'x'")],
    "node": [
        ("", USAGE, "needs a verb"),
        ("tokn", USAGE, "did you mean token?"),
        ("add node-9", USAGE, "a machine adds itself"),
        ("rename node-1 node-9", USAGE, "`hai node remove NODE`"),
    ],
    "node remove": [("", USAGE, "needs NODE"), ("node-99", NOT_FOUND, "node-99"), ("node-1", REFUSED, "is up")],
    "node set": [
        ("", USAGE, "needs NODE"),
        ("node-1", USAGE, "--group, --zone"),
        ("node-1 --reset name", USAGE, "--reset"),
        ("node-99 --leaf l", NOT_FOUND, "node-99"),
        ("node-1 --group", USAGE, "--group"),
        ("node-1 --labels a,,b", REFUSED, "labels"),
        ("node-1 --group a/b", REFUSED, "'a/b'"),
    ],
    "env": [("", USAGE, "create, list, path, remove"), ("creat", USAGE, "did you mean create?")],
    "env create": [("", USAGE, "needs NAME"), ("a/b", USAGE, "not 'a/b'")],
    "env list": [("x", USAGE, "'x'")],
    "env path": [("absent", NOT_FOUND, "no environment absent"), ("..", USAGE, "not '..'")],
    "env remove": [("absent", NOT_FOUND, "no environment absent"), ("", USAGE, "needs NAME")],
    "workspace": [("", USAGE, "push, pull, diff")],
    "workspace push": [("--to llm", USAGE, "absolute path"), ("--too /x", USAGE, "did you mean --to?")],
    "workspace pull": [("nowhere --to /x", NOT_FOUND, "no folder nowhere")],
    "workspace diff": [("", USAGE, "was not pushed yet")],
    "knob": [("", USAGE, "list, set, unset"), ("lst", USAGE, "did you mean list?")],
    "knob list": [("x", USAGE, "'x'")],
    "knob set": [
        ("min_quantum", USAGE, "needs VALUE"),
        ("min_quantm 5m", REFUSED, "did you mean min_quantum?"),
        ("min_quantum soon", REFUSED, "min_quantum"),
        ("down_after 50s", REFUSED, "config"),
    ],
    "knob unset": [("", USAGE, "needs NAME"), ("min_quantum", REFUSED, "nobody has set it")],
    "node identities": [("x", USAGE, "'x'")],
    "ca": [("", USAGE, "needs a verb"), ("shwo", USAGE, "did you mean show?")],
    "ca show": [("x", USAGE, "'x'")],
    "ca revoke": [("", USAGE, "needs NODE"), ("nobody", NOT_FOUND, "nobody")],
    "ca rotate": [("", REFUSED, "`hai-server ca rotate DIR`"), ("x", USAGE, "'x'")],
    "node revoke": [("", USAGE, "needs NODE"), ("nobody", NOT_FOUND, "nobody")],
    "node token": [("", USAGE, "create, list, revoke")],
    "node token create": [("", USAGE, "needs NODES"), ("n1 --uses 0", USAGE, "--uses")],
    "node token list": [("x", USAGE, "'x'")],
    "node token revoke": [("", USAGE, "needs ID"), ("none", NOT_FOUND, "none")],
    "stop": [("wiats", NOT_FOUND, "did you mean waits?"), ("", USAGE, "needs JOB")],
    "suspend": [("wiats", NOT_FOUND, "did you mean waits?"), ("1", REFUSED, "")],
    "resume": [("wiats", NOT_FOUND, "did you mean waits?")],
    "requeue": [("wiats", NOT_FOUND, "did you mean waits?"), ("waits", REFUSED, "waits already")],
    "hold": [("wiats", NOT_FOUND, "did you mean waits?")],
    "release": [("wiats", NOT_FOUND, "did you mean waits?")],
    "nodes": [
        ("node-11", NOT_FOUND, "did you mean node-1?"),
        ("--liveness upp", USAGE, "did you mean up?"),
        ("--scheduling opn", USAGE, "did you mean open?"),
    ],
    "cordon": [("node-99", NOT_FOUND, "node-99"), ("node-[1-", USAGE, "node-[1-")],
    "drain": [("noed-1", NOT_FOUND, "did you mean node-1?"), ("", USAGE, "needs NODE")],
    "undrain": [("node-99", NOT_FOUND, "node-99")],
    "fence": [("node-1", USAGE, "--yes"), ("node-99 --yes", NOT_FOUND, "node-99")],
    "validate": [("node-99", NOT_FOUND, "node-99")],
    "incidents": [("shw", USAGE, "did you mean show?")],
    "incidents show": [("x", USAGE, "'x'"), ("99", NOT_FOUND, "99")],
    "incidents close": [("99", NOT_FOUND, "99"), ("", USAGE, "needs INCIDENT")],
    "whoami": [("x", USAGE, "'x'")],
    "init": [
        ("", USAGE, "needs"),
        ("token --url http://x", USAGE, "http://x"),
        ("token --url a:0", USAGE, "a:0"),
        ("token --url 127.0.0.1:1", UNREACHABLE, "127.0.0.1:1"),
        ("token --url a:1 --offline --name a/b", USAGE, "a/b"),
    ],
    "context": [("lst", USAGE, "did you mean list?")],
    "context list": [("x", USAGE, "'x'")],
    "context show": [("bed", NOT_FOUND, "did you mean bad?")],
    "context use": [("bed", NOT_FOUND, "did you mean bad?"), ("", USAGE, "needs CONTEXT")],
    "context rename": [("bad a/b", USAGE, "a/b"), ("bad good", REFUSED, "dev cluster")],
    "context remove": [("bed", NOT_FOUND, "known are"), ("bad", REFUSED, "dev down --purge")],
    "token": [("", USAGE, "create, list, revoke"), ("lst", USAGE, "did you mean list?")],
    "token create": [("--user nobody", NOT_FOUND, "nobody")],
    "token list": [("x", USAGE, "'x'")],
    "token revoke": [("no-such-token", NOT_FOUND, "token"), ("", USAGE, "needs ID")],
    "secret": [("", USAGE, "set, list, delete"), ("lst", USAGE, "did you mean list?")],
    "secret set": [("", USAGE, "needs NAME"), ("key value", USAGE, "'value'"), ("key --file /none", NOT_FOUND, "/none")],
    "secret list": [("x", USAGE, "'x'")],
    "secret delete": [("", USAGE, "needs NAME"), ("none", NOT_FOUND, "no secret named none")],
    "completion": [("tcsh", USAGE, "bash, zsh, fish"), ("", USAGE, "needs SHELL")],
    "doctor": [("x", USAGE, "'x'")],
    "user": [("sett", USAGE, "did you mean set?"), ("rename ann bob", USAGE, "`hai user add NEW`")],
    "user add": [("bad/name", REFUSED, "user name"), ("", USAGE, "name one"), ("ann --role amdin", USAGE, "mean admin?")],
    "user list": [("x", USAGE, "'x'")],
    "user set": [("bad/name", REFUSED, "user name"), ("ann --role amdin", USAGE, "mean admin?")],
    "user remove": [("", USAGE, "needs USER"), ("nobody", NOT_FOUND, "nobody")],
    "quota": [("sett", USAGE, "did you mean set?"), ("", USAGE, "list, set, remove")],
    "quota list": [("-o jsn", USAGE, "did you mean json?")],
    "quota set": [("ann -5", USAGE, "-5"), ("ann 5 -p hihg", USAGE, "mean high?"), ("nobody 1", NOT_FOUND, "nobody")],
    "quota remove": [("nobody", NOT_FOUND, "nobody"), ("ann -p hihg", USAGE, "high?")],
    "dev": [("upp", USAGE, "did you mean up?"), ("", USAGE, "needs a verb")],
    "dev up": [
        ("--nodes 0", USAGE, "--nodes"),
        ("--name a/b", USAGE, "a/b"),
        ("--name other --knob agent_leas=10s", REFUSED, "did you mean agent_lease?"),
    ],
    "dev down": [("--name nobody", NOT_FOUND, "nobody")],
    "dev status": [("--name nobody", NOT_FOUND, "nobody")],
    "dev fleet": [("", USAGE, "needs COMMAND")],
    "dev kill": [("nothing", USAGE, "nothing"), ("node:node-99", NOT_FOUND, "node-99")],
    "dev start": [("nothing", USAGE, "nothing")],
    "help": [("lits", USAGE, "did you mean list?"), ("quota sett", USAGE, "did you mean set?")],
}

# What speaks to the server, with words that would be right. `hai wait` is patient instead.
OF_A_SERVER = """run good.yaml|exec true -- -n 1|list|status|status 1|describe 1|describe node/node-1|
describe incident/1|logs 1|top --once|why 1|whatif drain node-1|move 1 --first|edit 1 --timeout 1h|rerun 1|priority 1 high|
events|stop 1|suspend 1|resume 1|requeue 1|hold 1|release 1|nodes|nodes node-1|cordon node-1|drain node-1|
undrain node-1|fence node-1 --yes|validate node-1|images|images pull box|images prune|incidents|incidents show 1|incidents close 1|
whoami|token create|token list|token revoke x|secret list|secret delete x|user list|user add ann|user set ann|user remove x|node remove x|node set x --leaf l|knob list|knob set plan_gap 1s|knob unset plan_gap|quota list|quota set ann 1|
quota remove ann"""

GOOD = """version: 2
name: good
spec: {workspace: %s, entrypoint: run.sh}
resource: {group: training, node_count: 1}
"""


def verbs_of(text):
    """The verbs in one page of help: indented lines of the sections before Options."""
    found = []
    for section in re.split(r"\n\n", text.split("\nOptions:")[0]):
        title, _, lines = section.strip("\n").partition("\n")
        if title.endswith(":") and title not in ("Arguments:", "Examples:"):
            found += re.findall(r"^  (\S+)", lines, re.M)
    return found


class EveryVerbTest(ClusterTest):
    shape = {"name": "bad", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.file("run.sh", "#!/bin/sh\nexit 0\n")
        cls.cluster.file("good.yaml", GOOD % cls.cluster.work)
        done = cls.cluster.exec("true", "--name", "done")
        cls.cluster.wait_end(done)
        cls.cluster.exec("true", "--name", "waits", "--begin-at", "2099-01-01T00:00:00Z")

    def people_did(self, after):
        """Events since then that are not the cluster's own doing."""
        events = self.cluster.json("events", "--after", after, "-n", 1000)
        own = ("agent:", "server", "scheduler")
        return [event for event in events if not event["actor"].startswith(own)]

    def walk(self, *path):
        for name in verbs_of(self.cluster.ok(*path, "--help")):
            yield " ".join((*path, name))
            yield from self.walk(*path, name)

    def check_line(self, result, code, text):
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.out, "", result)
        self.assertRegex(result.err, r"\Ahai: [^\n\x00-\x1f]+\n\Z", result)
        self.assertIn(text, result.err, result)

    def test_every_verb_is_in_the_table(self):
        verbs = list(self.walk())
        self.assertGreater(len(verbs), 40)
        self.assertEqual(sorted(set(verbs) - set(TABLE)), [], "rows are missing")
        self.assertEqual(sorted(set(TABLE) - set(verbs)), [], "rows of no verb")

    def test_the_table(self):
        before = self.cluster.json("status")["last_seq"]
        contexts = (self.cluster.root / "config.json").read_text()
        for verb, rows in TABLE.items():
            for words, code, text in rows:
                with self.subTest(f"hai {verb} {words}"):
                    result = self.cluster.hai(*verb.split(), *words.split(), stdin="")
                    self.check_line(result, code, text)
        self.assertEqual(self.people_did(before), [])
        self.assertEqual((self.cluster.root / "config.json").read_text(), contexts)

    def test_a_server_that_is_not_there(self):
        self.cluster.ok(
            "init", "x", "--url", "127.0.0.1:1", "--name", "gone", "--offline", env=self.other()
        )
        for words in OF_A_SERVER.replace("\n", "").split("|"):
            with self.subTest(f"hai {words}"):
                result = self.cluster.hai(*words.split(), env=self.other())
                self.check_line(result, UNREACHABLE, "cannot reach hai-server at 127.0.0.1:1")

    def test_a_context_that_is_not_known(self):
        for words in OF_A_SERVER.replace("\n", "").split("|"):
            with self.subTest(f"hai {words}"):
                # After a "--" the words are hai's, before it the program's.
                result = self.cluster.hai("--context", "bed", *words.split())
                self.check_line(result, NOT_FOUND, "no context bed: did you mean bad?")

    def other(self):
        return {"HAI_CONFIG": self.cluster.root / "other.json"}


if __name__ == "__main__":
    unittest.main()
