"""Container images for tests, made of nothing but Python and Debian's busybox-static: an OCI layout
(image-spec 1.0) with layers of one's own, the hostile kinds too; and Debian's docker-registry."""

import hashlib
import http.server
import io
import json
import pathlib
import shutil
import socket
import subprocess
import tarfile
import threading
import time
import urllib.error
import urllib.request

BUSYBOX = shutil.which("busybox", path="/bin:/usr/bin")
APPLETS = ("sh", "cat", "ls", "id", "env", "sleep", "echo", "touch", "mkdir", "grep", "mount", "ps", "df",
           "stat", "head", "wc", "test", "readlink", "mknod", "dd", "true", "false", "kill", "seq", "sync", "mkfifo", "rm")


def entry(name, data=b"", mode=0o644, kind=tarfile.REGTYPE, link="", uid=0, device=(0, 0)):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.size, info.linkname = kind, mode, len(data), link
    info.uid = info.gid = uid
    info.devmajor, info.devminor = device
    return info, data


def layer(entries):
    """A tar of the entries; `name` may be anything, also what no honest tar has."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def busybox_layer(extra=()):
    entries = [entry(folder, mode=0o755, kind=tarfile.DIRTYPE)
               for folder in ("bin", "etc", "opt", "root", "tmp", "usr", "usr/bin", "var")]
    entries.append(entry("bin/busybox", pathlib.Path(BUSYBOX).read_bytes(), 0o755))
    entries += [entry(f"bin/{name}", kind=tarfile.SYMTYPE, link="busybox") for name in APPLETS]
    entries.append(entry("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n"))
    entries.append(entry("etc/group", b"root:x:0:\n"))
    return layer([*entries, *extra])


def write_layout(folder, layers, env=("PATH=/opt/image/bin:/bin", "OF_IMAGE=yes"), spoil=False):
    """An OCI layout with one image, `image`. `spoil`: its last layer is not what its digest says."""
    folder = pathlib.Path(folder)
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(data):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"digest": f"sha256:{digest}", "size": len(data)}

    config = put(json.dumps({
        "architecture": "amd64", "os": "linux", "config": {"Env": list(env)},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in layers]},
    }).encode())
    described = [put(each) for each in layers]
    if spoil:
        (blobs / described[-1]["digest"][7:]).write_bytes(layers[-1][:-1] + b"!")
    manifest = put(json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **config},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", **each} for each in described],
    }).encode())
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [{
        "mediaType": "application/vnd.oci.image.manifest.v1+json", **manifest,
        "annotations": {"org.opencontainers.image.ref.name": "image"}}]}))
    return manifest["digest"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Registry:
    """Debian's docker-registry on loopback; counts what is asked of it."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.port = free_port()
        self.host = f"127.0.0.1:{self.port}"
        config = self.root / "registry.yml"
        config.write_text(
            f"version: 0.1\nlog: {{accesslog: {{disabled: false}}}}\n"
            f"storage: {{filesystem: {{rootdirectory: {self.root}/registry}}}}\n"
            f"http: {{addr: {self.host}}}\n"
        )
        self.log = self.root / "registry.log"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(["docker-registry", "serve", str(config)], stdout=out, stderr=out)
        # Speaks without TLS, which skopeo must be told.
        self.settings = f'[[registry]]\nlocation = "{self.host}"\ninsecure = true\n'
        until = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"http://{self.host}/v2/", timeout=5).close()
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def push(self, layout, name):
        """Its digest there: skopeo compresses what it brings."""
        there = f"docker://{self.host}/{name}"
        subprocess.run(["skopeo", "copy", "--quiet", "--dest-tls-verify=false", f"oci:{layout}:image", there],
                       check=True)
        return subprocess.run(["skopeo", "inspect", "--tls-verify=false", "--format", "{{.Digest}}", there],
                              check=True, capture_output=True, text=True).stdout.strip()

    def pulls(self, digest, repository):
        """How often an image was fetched by its digest, as nodes do it: its last layer was."""
        request = urllib.request.Request(f"http://{self.host}/v2/{repository}/manifests/{digest}")
        request.add_header("Accept", "application/vnd.oci.image.manifest.v1+json")
        with urllib.request.urlopen(request, timeout=30) as found:
            wanted = "/blobs/" + json.load(found)["layers"][-1]["digest"]
        return sum(1 for line in self.log.read_text().splitlines() if '"GET /v2/' in line and wanted in line)

    def close(self):
        self.process.terminate()
        self.process.wait()


class SlowRegistry(http.server.ThreadingHTTPServer):
    """In front of another one: of a large layer it sends one half, and the other when `gate` is set."""

    LARGE = 2_000_000
    daemon_threads = True

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            request = urllib.request.Request(f"http://{self.server.real}{self.path}", method=self.command)
            request.add_header("Accept", ", ".join(self.headers.get_all("Accept", ["*/*"])))
            try:
                with urllib.request.urlopen(request, timeout=30) as found:
                    status, headers, body = found.status, found.headers, found.read()
            except urllib.error.HTTPError as error:
                status, headers, body = error.code, error.headers, error.read()
            self.send_response(status)
            for name, value in headers.items():
                if name not in ("Server", "Date", "Connection"):
                    self.send_header(name, value)
            self.end_headers()
            half = len(body) // 2 if len(body) > SlowRegistry.LARGE else 0
            self.wfile.write(body[:half])
            self.wfile.flush()
            if half:
                self.server.gate.wait(60)
            try:
                self.wfile.write(body[half:])
            except OSError:  # nobody waits for it any more
                self.close_connection = True

        do_HEAD = do_GET

        def log_message(self, *words):
            pass

    def __init__(self, real):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.real = real
        self.gate = threading.Event()
        self.host = f"127.0.0.1:{self.server_port}"
        self.settings = f'[[registry]]\nlocation = "{self.host}"\ninsecure = true\n'
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.gate.set()
        self.shutdown()
        self.server_close()
