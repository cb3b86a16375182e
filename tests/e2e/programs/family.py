"""A program with a child and a grandchild that has gone its own way: new session, parent dead,
environment empty. Writes the pids of all three to the file given, then waits for its end."""

import json
import os
import signal
import sys
import time


def daemon(write_end):
    os.setsid()
    pid = os.fork()
    if pid == 0:
        os.write(write_end, f"{os.getpid()}\n".encode())
        os.execve("/bin/sleep", ["daemon-of-a-rank", "600"], {})
    os._exit(0)  # the grandchild's parent is gone now


def main():
    for deaf in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(deaf, signal.SIG_IGN)  # inherited by the others
    child = os.fork()
    if child == 0:
        os.execv("/bin/sleep", ["child-of-a-rank", "600"])
    read_end, write_end = os.pipe()
    middle = os.fork()
    if middle == 0:
        daemon(write_end)
    os.waitpid(middle, 0)
    grandchild = int(os.read(read_end, 64))
    temporary = sys.argv[1] + ".new"
    with open(temporary, "w", encoding="ascii") as file:
        json.dump({"program": os.getpid(), "child": child, "grandchild": grandchild}, file)
    os.rename(temporary, sys.argv[1])
    print("the family is complete", flush=True)
    time.sleep(600)


main()
