"""Which cluster to talk to, and as whom: what `hai init` and `hai dev up` wrote, or the
environment."""

import json
import os
import ssl

from ._channel import Error

HTTP_PORT = 7780  # of a server's config, unless told otherwise


class Context:
    """`servers`: "https://host:port" or "http://host:port" of REST, in the order to be tried."""

    def __init__(self, servers, token, tls=None, name=""):
        self.servers, self.token, self.tls, self.name = servers, token, tls, name


def current():
    """The cluster of $HAI_URL and $HAI_TOKEN, also known as $MARSV2_SERVER and $MARSV2_USER_TOKEN;
    else $HAI_CONTEXT or the current one of the file that `hai init` keeps."""
    url = os.environ.get("HAI_URL") or os.environ.get("MARSV2_SERVER")
    token = os.environ.get("HAI_TOKEN") or os.environ.get("MARSV2_USER_TOKEN")
    if url:
        if not token:
            raise Error("HAI_URL is set, but HAI_TOKEN is not: hai token create makes one")
        return Context(
            [_with_scheme(each) for each in url.split(",")], token, _tls_of_environment()
        )
    context = _chosen(_read(path()))
    token = token or context.get("token")
    if not token:
        raise Error(
            f"context {context['name']} signs in with munge and has no token: "
            "hai token create makes one for HAI_TOKEN"
        )
    ca = context.get("ca", "")
    return Context(_servers(context, "https" if ca else "http"), token, _tls(ca), context["name"])


def path():
    if os.environ.get("HAI_CONFIG"):
        return os.environ["HAI_CONFIG"]
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "hai", "config.json")


def _read(name):
    try:
        with open(name, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise Error(
            f"no cluster is known, {name} does not exist: hai init TOKEN --url https://HOST:PORT, "
            "or set HAI_URL and HAI_TOKEN"
        ) from None
    except (OSError, ValueError) as error:
        raise Error(f"{name}: {error}") from error


def _chosen(config):
    wanted = os.environ.get("HAI_CONTEXT") or config.get("current", "")
    contexts = config.get("contexts", [])
    for context in contexts:
        if context.get("name") == wanted:
            return context
    known = ", ".join(context.get("name", "") for context in contexts) or "none"
    raise Error(f"no context '{wanted}' in {path()}: known are {known}")


def _servers(context, scheme):
    """The file has the addresses of gRPC: REST is at the same hosts, at $HAI_HTTP_PORT or 7780. A
    cluster of `hai dev up` says itself where."""
    if context.get("dev_data"):
        cluster = _read(os.path.join(context["dev_data"], "cluster.json"))
        return [f"{scheme}://127.0.0.1:{cluster['http_port']}"]
    port = os.environ.get("HAI_HTTP_PORT") or HTTP_PORT
    return [f"{scheme}://{server.rpartition(':')[0]}:{port}" for server in context["servers"]]


def _with_scheme(url):
    url = url.strip().rstrip("/")
    return url if "://" in url else "https://" + url


def _tls(ca):
    if ca in ("", "system"):
        return ssl.create_default_context()
    return ssl.create_default_context(cadata=ca)


def _tls_of_environment():
    """$HAI_CA: a file with the cluster's CA; without it those whom this machine believes."""
    file = os.environ.get("HAI_CA")
    try:
        return ssl.create_default_context(cafile=file) if file else ssl.create_default_context()
    except (OSError, ssl.SSLError) as error:
        raise Error(f"HAI_CA: {file}: {error}") from error
