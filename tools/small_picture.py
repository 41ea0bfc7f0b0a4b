"""Pictures of the gallery: 256 colours, those of the tokens among them, a third of their size."""

import io

from PIL import Image

from glassformer.core.theme import INTEGERS, SIGN, THEMES, split_channels

WIDE = 2400  # pixels at most


def smaller(content: bytes) -> bytes:
    """The picture with 256 colours, at most WIDE pixels wide."""
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    if picture.width > WIDE:
        picture = picture.resize(
            (WIDE, round(picture.height * WIDE / picture.width)), Image.Resampling.LANCZOS
        )
    made = io.BytesIO()
    picture.quantize(palette=palette(picture), dither=Image.Dither.NONE).save(made, "png", optimize=True)
    return made.getvalue()


def palette(picture: Image.Image) -> Image.Image:
    """256 colours: the tokens' and the themes' own, and those that serve the picture best."""
    themes = [
        colour for theme in THEMES.values() for colour in (theme.paper, theme.ink, theme.zero, theme.faint)
    ]
    own = [channel for colour in (*INTEGERS, SIGN, *themes) for channel in split_channels(colour)]
    best = picture.quantize(256 - len(own) // 3, kmeans=2, dither=Image.Dither.NONE).getpalette() or []
    holder = Image.new("P", (1, 1))
    holder.putpalette((own + best)[:768])
    return holder
