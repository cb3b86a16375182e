"""What deploy/ gives to Prometheus and Grafana fits what the server tells: every name that a rule or a panel
uses is one the server has, every alert has its runbook, and promtool accepts the rules."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/hai.rules.yaml"
CASES = pathlib.Path(__file__).with_name("alerts_test.yaml")
DASHBOARD = ROOT / "deploy/grafana/hai.json"
RUNBOOKS = ROOT / "docs/operations/runbooks.md"
NAME = re.compile(r"\b((?:hai|process)_[a-z_]+)\b")


def served_names():
    return set(re.findall(r'"((?:hai|process)_[a-z_]+)"', (ROOT / "server/http/metrics.cpp").read_text()))


def used_names(text):
    return {re.sub(r"_bucket$", "", name) for name in NAME.findall(text)}


class MonitoringTest(unittest.TestCase):
    def test_rules_use_what_is_served(self):
        expressions = "\n".join(re.findall(r"expr: (.*)", RULES.read_text()))
        self.assertGreater(len(used_names(expressions)), 8)
        self.assertEqual(used_names(expressions) - served_names(), set())

    def test_panels_use_what_is_served(self):
        panels = json.loads(DASHBOARD.read_text())["panels"]
        expressions = "\n".join(target["expr"] for panel in panels for target in panel["targets"])
        self.assertEqual(used_names(expressions) - served_names(), set())
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))

    def test_every_alert_has_its_runbook(self):
        sections = {line[3:].strip() for line in RUNBOOKS.read_text().splitlines() if line.startswith("## ")}
        text = RULES.read_text()
        anchors = re.findall(r"runbook: docs/operations/runbooks\.md#(\S+)", text)
        self.assertEqual(len(anchors), text.count("- alert:"))
        self.assertEqual(set(anchors), sections)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_promtool_accepts_the_rules(self):
        done = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_alerts_fire_when_they_should(self):
        done = subprocess.run(["promtool", "test", "rules", CASES], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
