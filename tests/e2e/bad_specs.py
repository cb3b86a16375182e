"""Job files that are wrong in one place, as data. A case replaces one line of the good file."""

GOOD = """\
version: 2
name: good
priority: normal
spec:
  workspace: {work}
  entrypoint: run.sh
  parameters: a b
resource:
  group: training
  node_count: 1
options:
  tags: [a]
"""

# what is wrong | the line, with ? if the error need not name it | what stands there | words it has
# `\n` begins another line, which is then the wrong one. An empty text takes the line away.
TABLE = r"""
unknown key at the top       |  3 | prio: normal                             | prio; priority
unknown key below            | 10 |   nodes_count: 1                         | resource.nodes_count; node_count
unknown key in options       | 12 |   tag: a                                 | options.tag; tags
a list for a number          | 10 |   node_count: [1]                        | resource.node_count
a word for a number          | 10 |   node_count: many                       | resource.node_count; many
a fraction                   | 10 |   node_count: 1.5                        | resource.node_count
a mapping for a text         |  6 |   entrypoint: {a: b}                     | spec.entrypoint
a number for a list          | 12 |   tags: 5                                | options.tags; list; 5
a number for services        | 12 |   tags: [a]\nservices: 5                 | services; list; web:8888
a number for a text          |  6 |   entrypoint: 5                          | spec.entrypoint; text; quotes
a truth value for a text     | 10 |   node_count: 1\n  image: true           | resource.image; text; quotes
a fraction for an environment| 12 |   py_venv: 5.5                           | options.py_venv; text; quotes
a part of a byte             | 12 |   core_size: 5.5                         | options.core_size; 64Gi
no nodes                     | 10 |   node_count: 0                          | resource.node_count; 1..100000
less than no nodes           | 10 |   node_count: -3                         | resource.node_count; -3
more nodes than can be       | 10 |   node_count: 100001                     | resource.node_count; 100001
more than an integer holds   | 10 |   node_count: 99999999999999999999999    | resource.node_count
too many GPUs                | 10 |   node_count: 1\n  gpus_per_node: 65     | resource.gpus_per_node; 0..64
too much memory              | 10 |   node_count: 1\n  memory_per_node: 9EiB | resource.memory_per_node
unknown priority             |  3 | priority: urgent                         | priority; urgent; extreme_high
a number that is no priority |  3 | priority: 11                             | priority; 11
a name with blanks           |  2 | name: not so good                        | name; A-Z
a name that is an id         |  2 | name: 12                                 | name; digits
a long name                  |  2 | name: LONG                               | name; 255
no name                      |  2?|                                          | name; missing
no version                   |  1?|                                          | version; missing
an old version               |  1 | version: 1                               | version; must be 2
no workspace                 |  5?|                                          | spec.workspace; missing
a relative workspace         |  5 |   workspace: here                        | spec.workspace; absolute
no entrypoint                |  6?|                                          | spec.entrypoint; missing
an open quote                |  7 |   parameters: it's                       | spec.parameters
a bad variable               |  7 |   environments: {'A B': c}               | spec.environments
a bad duration               | 12 |   timeout: soon                          | options.timeout; soon
an endless grace             | 12 |   suspend: {grace: 9h}                   | options.suspend.grace; 1h
an unknown signal            | 12 |   suspend: {signal: SIGFOO}              | options.suspend.signal; SIGFOO
a signal nobody can catch    | 12 |   suspend: {signal: SIGKILL}             | options.suspend.signal; SIGUSR1
an unknown word              | 12 |   launch: per_core                       | options.launch; per_node; per_gpu
a bad time                   | 12 |   begin_at: tomorrow                     | options.begin_at; tomorrow
the same key twice           |  3 | name: better                             | name
depends on itself            | 12 |   depends_on: [good]                     | options.depends_on; itself
a zone without a name        |  9 |   group: training#                       | resource.group; GROUP#ZONE
broken YAML                  |  9?|   group: [training                       | line
a tab                        |  9?| TABgroup: training                       | line
a control character          |  6 |   entrypoint: "run\x01.sh"               | spec.entrypoint
more nodes than there are    | 10 |   node_count: 5                          | resource.node_count; 5 asked; 2 nodes
a share that is none         | 10 |   node_count: 1\n  gpus_per_node: 3      | resource.gpus_per_node; 1, 2, 4
more GPUs than a node has    | 10 |   node_count: 1\n  gpus_per_node: 16     | resource.gpus_per_node; 8
unknown group                |  9 |   group: trainings                       | resource.group; trainings; training
unknown zone                 |  9 |   group: training#Z                      | resource.group; Z
unknown job                  | 12 |   depends_on: [nobody]                   | options.depends_on; nobody
an image                     | 10 |   node_count: 1\n  image: ubuntu         | resource.image
no such workspace            |  5 |   workspace: {work}/gone                 | spec.workspace; /gone
a workspace that is a file   |  5 |   workspace: {work}/run.sh               | spec.workspace; run.sh
no such entrypoint           |  6 |   entrypoint: gone.sh                    | spec.entrypoint; gone.sh
an entrypoint nobody may run |  6 |   entrypoint: notes.txt                  | spec.entrypoint; notes.txt
"""


def cases():
    """(name, text of the file, line the error must name or 0, words it must have)"""
    for row in TABLE.strip().split("\n"):
        name, line, new, words = row.split("|")
        is_named, number = "?" not in line, int(line.strip(" ?"))
        new = new[1:].rstrip().replace(r"\n", "\n").replace("TAB", "\t").replace("LONG", "n" * 300)
        lines = GOOD.split("\n")
        lines[number - 1 : number] = [new] if new else []
        wrong = number + new.count("\n") if is_named else 0
        yield name.strip(), "\n".join(lines), wrong, words.strip().split("; ")
