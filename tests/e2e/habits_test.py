"""What users of HAI type, as they type it: each row is a line from HAI's manual or a habit, what
comes of it, and whether it is taken at all."""

import json
import re
import unittest

import cluster
from cluster import said

# What is typed; the exit code; what is said, as regular expressions. NAME and OTHER are running
# jobs of two ranks and one, PYTHON is a file that prints its arguments.
HABITS = [
    ("hai list", 0, [r"NAME", r"OTHER"]),
    ("hai list -p 1 -ps 20", 0, [r"NAME"]),
    ("hai list -p 2 -ps 1", 0, [r"^ *ID"]),
    ("hai list --page 1 --page_size 1", 0, [r"^ *ID"]),
    ("hai list -p 0", 2, [r"--page"]),
    ("hai status NAME", 0, [r"job +\d+ NAME", r"state +running"]),
    ("hai status NAME OTHER", 0, [r"NAME", r"OTHER"]),
    ("hai status NAME -j", 0, [r'"name": "NAME"']),
    ("hai status NAME -o wide", 0, [r"RANK +NODE", r"0 +node-", r"1 +node-"]),
    ("hai logs NAME", 0, [r"rank 0 of 2"]),
    ("hai logs NAME -r 1", 0, [r"rank 1 of 2"]),
    ("hai logs NAME -r 2", 3, [r"rank"]),
    ("hai nodes", 0, [r"node-1", r"node-4"]),
    ("hai nodes --tree", 0, [r"^training$", r"zone A", r"node-\[1-4\], 8 of 32 GPUs free"]),
    ("hai whoami", 0, [r"\(admin\) on habits", r"OWNER +GROUP"]),
    ("hai python PYTHON --lr 3 -n 7 -- -n 1 -p high --name habit-a", 0, [r"submitted: habit-a"]),
    ("hai python PYTHON -- -n 1 -p 30 --name habit-b", 0, [r"submitted: habit-b"]),
    ("hai python PYTHON -- -n 1 -g training -p 40 -e A=B -e C=D --name habit-c", 0, [r"habit-c"]),
    ("hai python PYTHON -- --nodes 1 --group training --priority 50 --name habit-d", 0, []),
    ("hai python PYTHON -- -n 1 -p 31", 2, [r"31"]),
    ("hai python PYTHON here", 0, [r"\['here'\]"]),
    ("hai bash SCRIPT -- -n 1 --name habit-e", 0, [r"habit-e"]),
    ("hai exec echo follow me -- -n 1 -f", 0, [r"follow me"]),
    ("hai run FILE -n 1 -p 8 --name habit-f", 0, [r"habit-f"]),
    ("hai run FILE -f -p low --name habit-g", 0, [r"from a file"]),
    ("hai python PYTHON ++ -ss 1 -ls 7", 0, [r"simulated 7 0 1"]),
    ("hai python PYTHON ++ -- -n 1", 2, [r"\+\+"]),
    ("hai stop NAME OTHER", 0, [r"NAME", r"OTHER"]),
    ("hai stop no-such-job", 3, [r"no-such-job"]),
]

PROGRAM = """\
import os, sys
if os.environ.get("HFAI_SIMULATE") == "1":
    print("simulated", os.environ["MARSV2_WHOLE_LIFE_STATE"], os.environ["RANK"],
          os.environ["WORLD_SIZE"])
else:
    print(sys.argv[1:])
"""

# As a job of HAI's begins: what it imports, and the variables that it is given.
IMPORTS = """\
import json, os
import hai, hfai
from hfai.client import nb_name, receive_suspend_command
ours = ("HAI_", "MARSV2_", "MASTER_", "RANK", "WORLD_SIZE", "CHAIN_ID", "NODE_NAME", "HF_")
kept = {name: value for name, value in os.environ.items() if name.startswith(ours)}
print(json.dumps({"name": nb_name(), "asked": receive_suspend_command(), "kept": kept}))
"""

# Says what it begins with, sets the next, and is run again.
STATE = """\
import os, sys
from hfai.client import get_whole_life_state, set_whole_life_state
state = get_whole_life_state()
print(state, os.environ["MARSV2_WHOLE_LIFE_STATE"])
if state == 7:
    set_whole_life_state(8)
    sys.exit(85)
"""


class HabitsTest(cluster.ClusterTest):
    shape = {"nodes": 4, "name": "habits"}

    def words(self, line):
        stands_for = {
            "NAME": "long-train",
            "OTHER": "other",
            "PYTHON": "habit.py",
            "FILE": "habit.yml",
            "SCRIPT": "habit.sh",
        }
        return [stands_for.get(word, word) for word in line.split()[1:]]

    def test_each_line_does_what_it_does_in_hai(self):
        self.cluster.file("habit.py", PROGRAM)
        self.cluster.file("habit.sh", "echo by bash\n")
        spec = self.cluster.spec("from-file", "/bin/echo", "from a file")
        self.cluster.file("habit.yml", json.dumps(spec))
        script = 'echo "rank $RANK of $WORLD_SIZE"; sleep 600'
        # The highest priority, so that nothing here moves them.
        first = self.cluster.exec(script, "-n", 2, "-p", "50", "--name", "long-train")
        other = self.cluster.exec("sleep 600", "-p", "50", "--name", "other")
        for job in (first, other):
            self.cluster.wait_running(job)
        for rank in (0, 1):
            cluster.eventually("its first line", lambda: self.cluster.ok("logs", first, "-r", rank))
        for line, code, texts in HABITS:
            with self.subTest(line):
                result = self.cluster.hai(*self.words(line))
                self.assertEqual(result.code, code, result)
                for text in texts:
                    text = text.replace("NAME", "long-train").replace("OTHER", "other")
                    self.assertRegex(result.out + result.err, re.compile(text, re.MULTILINE))
                if code == 2:  # one line says what is wrong
                    self.assertEqual(result.err.count("\n"), 1, result)
        # The program had its own words, and hai its options.
        now = self.cluster.wait_end("habit-a")
        self.assertEqual(now["priority"], "high")
        self.assertEqual(said(self.cluster.ok("logs", "habit-a")), "['--lr', '3', '-n', '7']\n")
        priorities = {name: self.cluster.job(name)["priority"] for name in ("habit-b", "habit-f")}
        self.assertEqual(priorities, {"habit-b": "high", "habit-f": "under_normal"})

    def test_a_rehearsal_has_the_modules_and_variables_of_a_job(self):
        self.cluster.file("imports.py", IMPORTS)
        self.cluster.ok("python", "imports.py", "--", "-n", 1, "--name", "imports")
        self.assertEqual(self.cluster.wait_end("imports")["state"], "succeeded")
        job = json.loads(said(self.cluster.ok("logs", "imports")))
        result = self.cluster.hai("python", "imports.py", "++", "-ss", 2)
        self.assertEqual(result.code, 0, result)
        here = json.loads(result.out)
        self.assertEqual((here["name"], here["asked"]), ("imports", False))
        self.assertEqual(set(job["kept"]) - set(here["kept"]), {"HAI_SOCKET"})
        self.assertEqual(set(here["kept"]) - set(job["kept"]), {"HAI_CONFIG"})
        for name in ("HAI_NNODES", "HAI_NODE_RANK", "RANK", "WORLD_SIZE", "MARSV2_TASK_WORKSPACE"):
            self.assertEqual(here["kept"][name], job["kept"][name], name)
        # A folder of one's own goes before hai's.
        mine = self.cluster.root / "mine" / "hai"
        mine.mkdir(parents=True)
        (mine / "__init__.py").write_text("WHOSE = 'mine'\n")
        self.cluster.file("whose.py", "import hai; print(hai.WHOSE)\n")
        env = {"PYTHONPATH": mine.parent, "HAI_CHECKPOINT": "/data/c/7"}
        result = self.cluster.hai("python", "whose.py", "++", "-ss", 2, env=env)
        self.assertEqual((result.code, result.out), (0, "mine\n"), result)

    def test_a_job_file_of_hai_is_taken_and_what_it_says_in_vain_is_told(self):
        self.cluster.file("state.py", STATE)
        spec = self.cluster.spec("phases", "state.py", options={"whole_life_state": 7})
        spec["options"].update(sidecar=[], profile={}, py_venv="")
        sent = self.cluster.hai("run", "-", stdin=json.dumps(spec, indent=1))
        self.assertEqual(sent.code, 0, sent)
        for key in ("sidecar", "profile"):
            self.assertRegex(sent.err, rf"line \d+: options.{key}: .* asks for nothing")
        self.cluster.wait_end("phases")
        self.assertEqual(said(self.cluster.ok("logs", "phases", "--attempt", 2)), "8 8\n")


if __name__ == "__main__":
    unittest.main()
