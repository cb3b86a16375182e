"""Whoever begins gRPC messages and never ends them: HTTP/2 by hand, since no client does that."""

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM = ACK = 1
END_HEADERS = 4
INITIAL_WINDOW = 4  # a setting
FRAME_BYTES_MAX = 16_384
MESSAGE_BYTES = 4 << 20


def frame(kind, flags, stream, body=b""):
    return struct.pack(">I", len(body))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + body


def headers(fields):
    """Each as a literal that is not indexed (RFC 7541, 6.2.2)."""
    return b"".join(
        b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()
        for name, value in fields
    )


class Stranger:
    """One connection with one call, whose message lacks its last byte."""

    def __init__(self, port, method, token=""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.connection_window = self.stream_window = 65_535
        self.is_refused = False
        self.sent = 0
        self.buffer = b""
        fields = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", method),
            (":authority", "hai"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]
        if token:
            fields.append(("authorization", f"Bearer {token}"))
        self.socket.sendall(
            PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, headers(fields))
        )

    def send_all_but_the_end(self):
        """As much as the server takes of it: until it stops taking, or refuses."""
        begin = b"\0" + struct.pack(">I", MESSAGE_BYTES - 64)
        total = MESSAGE_BYTES - 64 + len(begin) - 1
        self.socket.settimeout(2)
        try:
            while not self.is_refused and self.sent < total:
                room = min(self.connection_window, self.stream_window, FRAME_BYTES_MAX)
                if room <= 0:
                    self.hear()
                    continue
                part = (begin + bytes(room))[self.sent : self.sent + room] if not self.sent else bytes(room)
                part = part[: min(room, total - self.sent)]
                self.socket.sendall(frame(DATA, 0, 1, part))
                self.sent += len(part)
                self.connection_window -= len(part)
                self.stream_window -= len(part)
            while not self.is_refused:
                self.hear()
        except OSError:
            pass  # It takes no more, or has hung up.
        return self

    def hear_refusal(self, seconds):
        """What was said to it before it gave up: a busy machine is slow to take 4 MB. Whether the call or
        the connection has ended."""
        self.socket.settimeout(seconds)
        try:
            while not self.is_refused:
                self.hear()
        except TimeoutError:
            return False
        except OSError:
            pass  # Hung up.
        return True

    def hear(self):
        """One frame."""
        head = self.read(9)
        length = int.from_bytes(head[:3], "big")
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        body = self.read(length)
        if kind == WINDOW_UPDATE and stream == 0:
            self.connection_window += int.from_bytes(body, "big")
        elif kind == WINDOW_UPDATE:
            self.stream_window += int.from_bytes(body, "big")
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, length, 6):
                name, value = struct.unpack(">HI", body[at : at + 6])
                if name == INITIAL_WINDOW:
                    self.stream_window += value - 65_535
            self.socket.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.socket.sendall(frame(PING, ACK, 0, body))
        elif kind in (RST_STREAM, GOAWAY) or (kind == HEADERS and flags & END_STREAM):
            self.is_refused = True

    def read(self, count):
        while len(self.buffer) < count:
            more = self.socket.recv(65_536)
            if not more:
                raise ConnectionError("the server has hung up")
            self.buffer += more
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken
