"""Models of the Hugging Face hub by their id: from the cache of this machine, else single tensors by range.

    open_hub("Qwen/Qwen2.5-3B").tensors["model.layers.0.mlp.down_proj.weight"].block()

fetches the headers of its files and this one tensor. Needs the extra `hub`.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from glassformer.core.errors import UserError
from glassformer.lens.read.assemble import read_checkpoint_folder
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.fingerprint import Stamp
from glassformer.lens.read.folder import LocalFolder
from glassformer.lens.read.mapped import ByteSource, MappedFile
from glassformer.lens.read.remote import RemoteFile

_SECONDS = 10  # that a server may take to answer
_TRIES = 3  # of one request once the hub has answered at all
_USUAL = ["config.json", "model.safetensors.index.json", "model.safetensors"]  # one tells the cache's folder
_USUAL += ["pytorch_model.bin.index.json", "pytorch_model.bin"]
Answer = TypeVar("Answer")


def open_hub(id: str) -> Checkpoint:
    """The checkpoint of a hub id; the network is not touched where all of it is in the cache."""
    try:
        import huggingface_hub  # noqa: F401
    except ImportError:
        raise UserError(
            f"'{id}' is no file or folder here, and a hub id needs: pip install 'glassformer[hub]'"
        ) from None
    checkpoint = _open_cached_model(id) or read_checkpoint_folder(_HubFolder(id))
    return replace(checkpoint, name=id, source=id)


def _open_cached_model(id: str) -> Checkpoint | None:
    """The model in this machine's cache; none where it is not there, or not whole."""
    from huggingface_hub import try_to_load_from_cache

    for name in _USUAL:
        path = try_to_load_from_cache(id, name, cache_dir=os.environ.get("HF_HUB_CACHE"))
        if isinstance(path, str):
            try:
                return read_checkpoint_folder(LocalFolder(Path(path).parent))
            except UserError:
                return None
    return None


class _HubFolder:
    """The files of a model on the hub, as they were when it was opened."""

    def __init__(self, id: str) -> None:
        from huggingface_hub import HfApi

        self.id, self.place = id, id
        self.endpoint = os.environ.get("HF_ENDPOINT")  # asked for now, where the library asks when imported
        api = HfApi(endpoint=self.endpoint)
        about = _ask_hub(id, lambda: api.model_info(id, files_metadata=True, timeout=_SECONDS))
        self.revision = str(about.sha)
        self.files = {file.rfilename: file for file in about.siblings or []}

    def names(self) -> list[str]:
        return sorted(name for name in self.files if "/" not in name)

    def stamp(self, name: str) -> Stamp:
        return name, self.size(name), f"{self.revision} {self.files[name].blob_id}"

    def size(self, name: str) -> int:
        size = self.files[name].size if name in self.files else None
        if not isinstance(size, int) or size < 0:
            raise UserError(f"the hub does not say how large {self.id}/{name} is")
        return size

    def path(self, name: str) -> Path:
        from huggingface_hub import hf_hub_download

        def download() -> str:
            return hf_hub_download(self.id, name, revision=self.revision, endpoint=self.endpoint)

        return Path(_ask_hub(self.id, download))

    def source(self, name: str) -> ByteSource:
        from huggingface_hub import hf_hub_url, try_to_load_from_cache

        kept = try_to_load_from_cache(
            self.id, name, cache_dir=os.environ.get("HF_HUB_CACHE"), revision=self.revision
        )
        if isinstance(kept, str):
            return MappedFile(kept)
        url = hf_hub_url(self.id, name, revision=self.revision, endpoint=self.endpoint)
        return RemoteFile(
            f"{self.id}/{name}",
            self.size(name),
            lambda start, stop: _fetch_byte_range(self.id, url, start, stop),
        )


def _fetch_byte_range(id: str, url: str, start: int, stop: int) -> bytes:
    """The bytes of a file from start up to stop."""
    from huggingface_hub.utils import build_hf_headers, get_session  # type: ignore[attr-defined]

    headers = build_hf_headers() | {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
    for remaining in reversed(range(_TRIES)):
        try:
            answer = _ask_hub(id, lambda: get_session().get(url, headers=headers, timeout=_SECONDS))
        except UserError:
            if not remaining:
                raise
            continue
        if answer.status_code == 206 or (answer.status_code == 200 and len(answer.content) == stop - start):
            return bytes(answer.content)
        if answer.status_code < 500 or not remaining:
            raise UserError(f"the hub answers {answer.status_code} where a part of {url} is asked for")
    raise AssertionError("every path above returns or raises")


def _ask_hub(id: str, question: Callable[[], Answer]) -> Answer:
    """The hub's answer; its errors, and those of whatever carries them, as one sentence."""
    from huggingface_hub import errors

    start = f"'{id}' is no file or folder here, and"
    try:
        return question()
    except errors.GatedRepoError:
        raise UserError(f"{start} access to it is restricted (hf auth login)") from None
    except errors.RepositoryNotFoundError:
        raise UserError(f"{start} the hub has no such model, or not for you (hf auth login)") from None
    except errors.OfflineModeIsEnabled:
        raise UserError(f"{start} it is not in the cache, while HF_HUB_OFFLINE forbids the network") from None
    except errors.HfHubHTTPError as error:
        raise UserError(f"{start} the hub answers with an error: {_shorten_error(error)}") from None
    except (
        Exception
    ) as error:  # the library has changed what carries its requests; each has errors of its own
        raise UserError(f"{start} the hub cannot be reached: {_shorten_error(error)}") from None


def _shorten_error(error: object) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
