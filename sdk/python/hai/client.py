"""HAI's client on top of hai: same names, types and arguments, so that programs run unchanged.
Module hfai.client is another name of it.

In a job: what differs from module hai is that states are ints, go_suspend() returns outside the
cluster, and calls take HAI's `timeout` and `raise_exception` (the timeout is hai's own here: its
socket is on this machine). What hai decides by itself (priority, warnings, health checks) is
accepted and answered "not done".

Anywhere: experiments, over REST, at the cluster that `hai` talks to. These are coroutines, as in
HAI.
"""

import os
import sys

import hai
from hai import Error, receive_suspend_command as _receive, go_suspend as _go_suspend
from hai._experiment import (
    EXP_PRIORITY,
    STOP_CODE,
    Experiment,
    Unsupported,
    create_experiment,
    create_experiment_v2,
    get_cluster_overview,
    get_experiment,
    get_experiments,
    get_user_info,
)
from hai._rest import NotFound

__all__ = [
    "EXP_PRIORITY",
    "Error",
    "Experiment",
    "NotFound",
    "STOP_CODE",
    "Unsupported",
    "WARN_TYPE",
    "bind_hf_except_hook",
    "create_experiment",
    "create_experiment_v2",
    "disable_warn",
    "get_cluster_overview",
    "get_experiment",
    "get_experiments",
    "get_user_info",
    "get_whole_life_state",
    "go_suspend",
    "nb_name",
    "node_name",
    "print_gpu_info",
    "rank",
    "receive_suspend_command",
    "self_health_check",
    "set_priority",
    "set_watchdog_time",
    "set_whole_life_state",
    "task_id",
    "user_name",
]

_INSTEAD = {
    "create_node_port_svc": "name the port in the job file's services, or use hai forward JOB PORT",
    "delete_node_port_svc": "a service ends with its job",
    "get_node_port_svc_list": "hai status JOB names the job's services",
    "get_task_ssh_ip": "hai ssh JOB goes into a rank, hai ssh --config JOB is for scp and editors",
    "get_task_container_log": "Experiment.log has what a rank wrote, in a container or not",
    "get_tasks_overview": "use get_cluster_overview or get_experiments",
    "get_user_personal_storage": "hai counts no storage",
    "get_worker_user_info": "use get_user_info",
    "set_user_gpu_quota": "use hai quota set",
    "set_swap_memory": "the memory of a job is resource.memory_per_node of its file",
    "create_haiprof_task": "start the profiler in the job",
    "rerun_task": "use Experiment.rerun",
    "validate_task": "operators test the nodes of a job with hai validate NODE",
    "validate_experiment": "operators test the nodes of a job with hai validate NODE",
    "validate_nodes": "operators test nodes with hai validate NODE",
    "switch_schedule_zone": "name the zone in resource.group of the job file, as training#A",
}


class WARN_TYPE:
    COMPLETED = 1
    TERMINATING = 2
    LOG = 4
    INTERRUPT = 8


def __getattr__(name):
    """Names of HAI that hai has no equivalent for say what to do instead when they are used."""
    if name in _INSTEAD:
        raise Unsupported(f"{name} is not supported: {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def nb_name():
    return _first("NO_CLUSTER", "MARSV2_NB_NAME", "HAI_JOB_NAME")


def task_id():
    return _first(-1, "MARSV2_TASK_ID", "HAI_JOB_ID")


def rank():
    return int(_first(0, "MARSV2_RANK", "HAI_NODE_RANK"))


def node_name():
    return _first("NAN_NODE", "MARSV2_NODE_NAME", "HAI_NODE_NAME")


def user_name():
    return _first("", "MARSV2_USER", "HAI_USER")


def receive_suspend_command(timeout=500, raise_exception=False):
    return _receive()


def go_suspend(timeout=500, raise_exception=False):
    """Does not return inside a job; ends a simulated run with exit code 0; does nothing
    elsewhere."""
    if hai.in_job():
        _go_suspend()
    if os.environ.get("HFAI_SIMULATE") == "1":
        print("hai: simulated suspend, exiting", flush=True)
        sys.exit(0)
    _say("go_suspend: not in a hai job, going on")


def get_whole_life_state():
    """The int set last in this or any earlier attempt; 0 if none was, or if it is not a number."""
    try:
        return int(hai.get_whole_life_state() or 0)
    except ValueError:
        return 0


def set_whole_life_state(state, timeout=500, raise_exception=True):
    try:
        return hai.set_whole_life_state(int(state))
    except Error as error:
        if raise_exception:
            raise
        _say(error)
        return False


def set_watchdog_time(seconds):
    if not hai.set_watchdog_time(seconds):
        return {"success": 0, "msg": f"set_watchdog_time {seconds} s: not set"}
    return {"success": 1, "msg": f"set_watchdog_time {seconds} s: set"}


def set_priority(priority, timeout=500, raise_exception=False):
    """Not from inside a job: the priority is the user's to change."""
    return _not_done("set_priority")


def disable_warn(warn_type, timeout=500, raise_exception=False):
    return _not_done("disable_warn")


def bind_hf_except_hook(process_class):
    """Nothing to bind: the agent itself checks the node's health when a rank fails."""


def self_health_check():
    """Nothing to do: the agent itself checks the node's health when a rank fails."""


def print_gpu_info(pid):
    return False


def _first(default, *names):
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    return default


def _not_done(what):
    _say(f"{what}: has no effect inside a job")
    return False


def _say(text):
    print(f"hai: {text}", file=sys.stderr, flush=True)
