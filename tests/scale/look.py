"""What is seen of a cluster from outside: its processes, what they listen on, who is let in, what is left of it.

Its processes are known by the temporary folder that their environment names, whatever Ray makes of them.
"""

import http.client
import re
import shutil
import struct
import tempfile
import time
from contextlib import contextmanager, suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

import pytest

PATIENCE = 60  # seconds
LOOK = 0.02  # seconds between two looks at what is waited for
LISTENS = "0A"  # as /proc/net/tcp has it
METHODS = (
    "NodeInfoGcsService/GetAllNodeInfo",
    "JobInfoGcsService/AddJob",
    "InternalKVGcsService/InternalKVPut",
    "NodeManagerService/RequestWorkerLease",
    "ObjectManagerService/Pull",
    "CoreWorkerService/PushTask",
)


@contextmanager
def own_temporary_folder():
    """Also the home, where Ray would leave a token."""
    folder = Path(tempfile.mkdtemp(prefix="gf-test-", dir="/tmp"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", None)
        patch.setenv("TMPDIR", str(folder))
        patch.setenv("HOME", str(folder))
        yield folder
    shutil.rmtree(folder)


def wait_until(true):
    """What it gives as soon as that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(LOOK)
    return found


def list_left(folder):
    """Processes, files and shared memory of a cluster whose temporary folder this is."""
    memory = [path.name for path in Path("/dev/shm").glob("plasma*")]
    return [*list_processes(folder), *folder.iterdir(), *memory]


def list_processes(folder):
    """Who was started with this temporary folder and still runs."""
    mark = f"TMPDIR={folder}".encode()  # or a folder in it
    return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if mark in content(path)]


def content(path):
    """Nothing where it is gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_commands(processes):
    return [content(Path(f"/proc/{process}/cmdline")) for process in processes]


def read_tokens(processes):
    """Those that the processes were started with."""
    environments = [content(Path(f"/proc/{process}/environ")) for process in processes]
    return {token.decode() for text in environments for token in re.findall(rb"RAY_AUTH_TOKEN=(\w+)", text)}


def list_listeners(processes):
    """Address and port of every TCP socket that one of them listens on."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in read_table(name)]
    where = {f"socket:[{row[9]}]": row[1] for row in rows if row[3] == LISTENS}
    return {
        parse_place(where[link]) for process in processes for link in list_links(process) if link in where
    }


def read_table(name):
    return Path("/proc/net", name).read_text(encoding="utf-8").splitlines()[1:]


def list_links(process):
    """What its file descriptors are; some may be closed meanwhile."""
    for handle in Path("/proc").glob(f"{process}/fd/*"):
        with suppress(FileNotFoundError):
            yield str(handle.readlink())


def parse_place(text):
    """
    >>> parse_place("0100007F:1F90")
    (IPv4Address('127.0.0.1'), 8080)
    """
    address, _, port = text.partition(":")
    words = [int(address[at : at + 8], 16) for at in range(0, len(address), 8)]
    found = ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return mapped or found, int(port, 16)


def ask(place, token, methods=METHODS):
    """How the port answers: by gRPC's names, without the methods that it does not have, or as HTTP does."""
    import grpc

    headers = {"authorization": f"Bearer {token}"} if token else {}
    with grpc.insecure_channel(name_place(*place)) as channel:
        answers = {call(channel.unary_unary(f"/ray.rpc.{name}"), headers) for name in methods}
    answers -= {"UNIMPLEMENTED"}
    return answers if answers != {"UNAVAILABLE"} else {ask_http(place, headers)}


def call(method, headers):
    import grpc

    try:
        method(b"", timeout=PATIENCE, metadata=[*headers.items()])
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def name_place(address, port):
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


def ask_http(place, headers):
    connection = http.client.HTTPConnection(name_place(*place), timeout=PATIENCE)
    connection.request("POST", "/get_runtime_envs_info", b"", headers)
    status = connection.getresponse().status
    connection.close()
    return str(status)
