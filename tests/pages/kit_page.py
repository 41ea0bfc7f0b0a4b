"""The kit's own page, written as every page is, with made-up numbers."""

import shutil
from html import escape
from pathlib import Path

from glassformer.core.theme import pick_text_colour, pick_token_colour
from glassformer.pages.common_part import make_common_part
from glassformer.pages.modules import ASSETS, join_modules
from glassformer.pages.write import POLICY, TEMPLATE, digest_script, embed_payload, make_style


def kit_html(folder: Path, entry: str = "kit_demo.js") -> str:
    """A page whose entry stands beside this file; it imports the kit as if it lay among the assets."""
    assets = folder / "assets"
    shutil.copytree(ASSETS, assets, dirs_exist_ok=True)
    shutil.copy(Path(__file__).parent / entry, assets)
    script = f"\n{join_modules(entry, assets)}"
    policy = escape(POLICY.format(digest=digest_script(script)))
    payload = embed_payload(
        {"name": "kit/demo", "colours": make_common_part()["colours"], "tokens": tokens()}
    )
    return TEMPLATE.format(
        policy=policy, title="kit", style=make_style(entry), payload=payload, script=script
    )


def tokens() -> list[dict[str, str]]:
    shades = [(str(value), pick_token_colour(str(value))) for value in range(21)]
    return [{"label": label, "colour": shade, "ink": pick_text_colour(shade)} for label, shade in shades]
