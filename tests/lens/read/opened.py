"""A checkpoint of some tensors, written and opened."""

from safetensors.numpy import save_file

from glassformer.lens.read.open import open_checkpoint


def opened(tmp_path, tensors, config="{}"):
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    return open_checkpoint(tmp_path)
