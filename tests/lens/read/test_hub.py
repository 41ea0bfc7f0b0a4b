"""A hub of one model on this machine: what is asked for is counted."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from safetensors.numpy import save, save_file

from glassformer.core.errors import UserError
from glassformer.lens.read.open import open_checkpoint
from glassformer.lens.read.remote import PIECE

SHA = "0" * 40
BIG = np.arange(2_000_000, dtype=np.float32).reshape(1000, 2000)
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors.index.json": json.dumps({"weight_map": {"big": FIRST, "small": SECOND}}).encode(),
    FIRST: save({"big": BIG}),
    SECOND: save({"small": np.eye(3, dtype=np.float16)}),
}


class Hub(BaseHTTPRequestHandler):
    sent = 0  # bytes of weights
    has_ranges = True

    def do_GET(self):
        if self.path.startswith("/api/models/org/name"):
            files = [
                {"rfilename": name, "size": len(content), "blobId": name} for name, content in FILES.items()
            ]
            return self.answer(200, json.dumps({"id": "org/name", "sha": SHA, "siblings": files}).encode())
        name = self.path.rsplit("/", 1)[-1]
        if name not in FILES or SHA not in self.path:
            return self.answer(404, b"{}", ("X-Error-Code", "RepoNotFound"))
        if not Hub.has_ranges:
            return self.answer(200, FILES[name] + b" ")
        start, stop = self.headers["Range"].removeprefix("bytes=").split("-")
        content = FILES[name][int(start) : int(stop) + 1]
        Hub.sent += len(content)
        return self.answer(206, content)

    def answer(self, status, content, header=("X-Hub", "test")):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header(*header)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(monkeypatch, tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Hub, "sent", 0)
    yield
    server.shutdown()
    server.server_close()


def test_one_tensor_does_not_download_the_model(hub):
    checkpoint = open_checkpoint("org/name")
    assert (checkpoint.name, checkpoint.kind, checkpoint.config) == (
        "org/name",
        "safetensors",
        {"model_type": "llama"},
    )
    assert np.array_equal(checkpoint.tensors["small"].block(), np.eye(3))
    tensor = checkpoint.tensors["big"]
    assert np.array_equal(tensor.block(slice(999, 1000), slice(5, 9)), BIG[999:, 5:9])
    assert Hub.sent < 3 * PIECE < len(FILES[FIRST])
    assert np.array_equal(tensor.block(), BIG)
    before = Hub.sent
    tensor.forget()
    assert np.array_equal(tensor.block(columns=slice(7, 8)), BIG[:, 7:8]) and Hub.sent == before


def test_a_hub_without_ranges_and_a_model_that_is_not_there(hub, monkeypatch):
    monkeypatch.setattr(Hub, "has_ranges", False)
    with pytest.raises(UserError, match="the hub answers 200 where a part of"):
        open_checkpoint("org/name")
    with pytest.raises(
        UserError, match="'org/other' is no file or folder here, and the hub has no such model"
    ):
        open_checkpoint("org/other")


def cached(cache, files):
    root = cache / "models--org--name"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(SHA)
    (root / "snapshots" / SHA).mkdir(parents=True)
    for name, content in files.items():
        (root / "snapshots" / SHA / name).write_bytes(content)


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_the_cache_needs_no_network(no_network):
    cached(no_network, FILES)
    checkpoint = open_checkpoint("org/name")
    assert checkpoint.kind == "safetensors" and np.array_equal(checkpoint.tensors["big"].block(), BIG)


def test_half_a_model_in_the_cache_or_none_and_no_network(no_network):
    sentence = "'org/name' is no file or folder here, and the hub cannot be reached: "
    with pytest.raises(UserError, match=sentence):
        open_checkpoint("org/name")
    cached(no_network, {name: content for name, content in FILES.items() if name != SECOND})
    with pytest.raises(UserError, match=sentence):
        open_checkpoint("org/name")


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=r"a hub id needs: pip install 'glassformer\[hub\]'"):
        open_checkpoint("org/name")


def test_a_path_comes_before_a_hub_id(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "name").mkdir(parents=True)
    save_file({"a": np.eye(2)}, tmp_path / "org" / "name" / "model.safetensors")
    assert open_checkpoint("org/name").kind == "safetensors"
