"""A rank that tries to break out, in ways that do no harm where they work. Its argument is a JSON
file that says what is where. It prints a line per attempt: `refused NAME: WHY`, `ESCAPED NAME: WHAT`,
`absent NAME: WHY` where the machine has not what is tried on, `lacking NAME: WHAT` where this agent
cannot keep its ranks from it.
"""

import json
import os
import sys

import attempts

for module in ("calls", "devices", "files", "privileges", "processes"):
    __import__(module)


def tell(name, action, needs, targets):
    if needs in targets["lacks"]:
        return f"lacking {name}: {needs}"
    try:
        return f"ESCAPED {name}: {str(action(targets))[:200]!r}"
    except attempts.Absent as why:
        return f"absent {name}: {why}"
    except FileNotFoundError as why:
        # What is not there was not kept from anybody. The test knows of what that may be.
        return f"absent {name}: {why}"
    except (OSError, attempts.Refused) as why:
        return f"refused {name}: {getattr(why, 'strerror', None) or why}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        targets = json.load(file)
    for name, action, needs in attempts.ATTEMPTS:
        print(tell(name, action, needs, targets), flush=True)
    # What is left of it is cleared away by root, who must not follow this.
    os.symlink(targets["precious"], os.path.join(os.environ["TMPDIR"], "link"))
    print("done")


main()
