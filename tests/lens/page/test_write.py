"""The page of `glassformer spectra`: its numbers are those of the folder, in Python and in a real browser."""

import csv
import json
import shutil

import numpy as np
import pytest

from glassformer.core.answer import Request
from glassformer.core.errors import UserError
from glassformer.lens.command.spectra import answer_spectra, spectra
from glassformer.lens.page.folder import SpectraFolder
from glassformer.lens.page.payload import LARGEST, make_comparison_payload, make_model_payload
from glassformer.lens.page.write import is_spectra_folder, make_spectra_html
from glassformer.lens.records import read_record
from glassformer.pages.pack import unpack_array
from tests.lens.small_llama import write_llama

QUIET = {"formats": ("none",), "workers": 1}

REQUEST = Request({"target": "base"}, 1.0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One model under two treatments; two models; both as folders of results."""
    here = tmp_path_factory.mktemp("made")
    one, two = write_llama(here / "base", layers=6), write_llama(here / "<b>&tuned", layers=6, seed=1)
    single = spectra(one, out=here / "one.spectra", treatments="raw,folded", **QUIET)
    both = spectra(one, two, out=here / "both.spectra", **QUIET)
    return {"here": here, "single": single, "both": both}


@pytest.fixture
def folder(made):
    return made["here"] / "one.spectra"


@pytest.fixture
def pair(made):
    return made["here"] / "both.spectra"


def read_rows(path):
    with path.open() as file:
        return [*csv.DictReader(file)]


def column(table, name):
    one = next(one for one in table if one["name"] == name)
    codes = unpack_array(one["codes"] if "codes" in one else one["numbers"])
    return [one["texts"][code] for code in codes] if "texts" in one else codes


def spectrum(packed, row, width=1):
    starts, numbers = unpack_array(packed["starts"]), unpack_array(packed["numbers"])
    return numbers[starts[row] * width : starts[row + 1] * width]


def test_the_command_writes_the_page_and_names_it(made, folder):
    assert (folder / "page.html").read_text() == make_spectra_html(folder)
    assert str(folder / "page.html") in made["single"].files
    assert f"{folder / 'page.html'}" in answer_spectra(made["single"], REQUEST).words
    assert f"{made['here'] / 'both.spectra' / 'page.html'}" in answer_spectra(made["both"], REQUEST).words


def test_the_payload_has_every_number_of_the_tables(folder):
    model = make_model_payload(folder)["models"][0]
    for name, file in (("headTable", "heads.csv"), ("weightTable", "weights.csv")):
        rows = read_rows(folder / file)
        for title in ("layer_idx", "eff_rank", "condition", "n90", "stable_rank_relative"):
            assert [float(row[title]) for row in rows] == [*column(model[name], title)], title
        assert [row["treatment"] for row in rows] == column(model[name], "treatment")


def test_the_payload_has_every_spectrum_of_the_units(folder):
    model = make_model_payload(folder)["models"][0]
    rows, weights = read_rows(folder / "heads.csv"), read_rows(folder / "weights.csv")
    [unit] = (folder / "units").glob("heads.003.folded.*")
    record = read_record(folder / "units", unit.stem)
    at = next(i for i, row in enumerate(rows) if (row["layer_idx"], row["head_idx"], row["kernel"], row["treatment"]) == ("3", "1", "OV", "folded"))  # fmt: skip
    heads = model["spectra"]["heads"]
    assert np.array_equal(spectrum(heads["values"], at), record.arrays["1.OV.values"])
    assert np.array_equal(spectrum(heads["eigenvalues"], at, 2), record.arrays["1.OV.eigenvalues"].ravel())
    for row, about in enumerate(weights):
        values = spectrum(model["spectra"]["weights"], row)
        assert float(about["largest"]) == values.max()


def test_a_record_of_other_numbers_is_not_taken(folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    text = (copy / "heads.csv").read_text().splitlines()
    cells = text[1].split(",")
    cells[text[0].split(",").index("eff_rank")] = "1.5"
    (copy / "heads.csv").write_text("\n".join([text[0], ",".join(cells), *text[2:]]) + "\n")
    spectra_there = SpectraFolder(copy).head_spectra()
    assert not spectra_there[0] and all(spectra_there[1:])


def test_courses_say_what_the_command_says(made, folder):
    told = made["single"].weights
    for course in make_model_payload(folder)["models"][0]["courses"]:
        if course["treatment"] == "raw":
            assert course["said"]["eff_rank"]["mean"] == pytest.approx(
                told[course["name"]]["mean"], rel=1e-12
            )
            assert course["said"]["eff_rank"]["trend"]["tested"] == told[course["name"]]["trend"]["tested"]


def test_a_folder_without_a_summary_still_has_a_page(folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "summary.json").unlink()
    model = make_model_payload(copy)["models"][0]
    assert (model["layers"], model["heads"], model["kv_heads"], model["head_dim"]) == (6, 4, 2, 4)


def test_a_folder_that_is_no_analysis_is_refused(tmp_path, folder, pair):
    assert is_spectra_folder(folder) and is_spectra_folder(pair) and not is_spectra_folder(tmp_path)
    with pytest.raises(UserError, match="holds no analysis"):
        make_spectra_html(tmp_path)


def test_the_page_is_small(folder):
    assert len(make_spectra_html(folder)) < 8_000_000 > LARGEST


def drawn(page, panel):
    """The panel, once it is drawn as the state is now."""
    section = page.locator(f"#panel-{panel}")
    section.scroll_into_view_if_needed()
    page.wait_for_selector(f"#panel-{panel}[data-draws]:not([data-stale])")
    return section


def test_cells_show_the_numbers_of_the_table_and_arrows_move(open_page, folder):
    page = open_page(folder / "page.html")
    rows = [
        row for row in read_rows(folder / "heads.csv") if row["kernel"] == "QK" and row["treatment"] == "raw"
    ]
    assert page.locator("#panel-heads rect[data-layer]").count() == len(rows)
    lowest = min(rows, key=lambda row: float(row["eff_rank"]))
    state = page.evaluate("glassformer.store.get()")
    assert (state["layer"], state["head"]) == (int(lowest["layer_idx"]), int(lowest["head_idx"]))
    page.locator('#panel-heads rect[data-layer="2"][data-head="1"]').click()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('layer=3') && location.hash.includes('head=1')")
    assert "Layer 3, head 1" in drawn(page, "head").locator(".about").inner_text()
    found = page.evaluate("[...glassformer.lab.models[0].heads.column('eff_rank').data]")
    assert found == [float(row["eff_rank"]) for row in read_rows(folder / "heads.csv")]


def test_the_chosen_head_has_the_eigenvalues_of_its_unit(open_page, folder):
    page = open_page(folder / "page.html", hash="layer=3&head=1")
    drawn(page, "head")
    [unit] = (folder / "units").glob("heads.003.raw.*")
    record = read_record(folder / "units", unit.stem)
    key = "glassformer.lab.models[0].headRows.get('3 1 QK raw')"
    values = page.evaluate(f"[...glassformer.lab.models[0].headEigenvalues({key})]")
    assert values == record.arrays["1.QK.eigenvalues"].ravel().tolist()
    marks = page.locator("#panel-head svg").first.locator("circle:not([fill=none]), path[d$=Z]")
    assert marks.count() == 4


def test_a_link_shows_what_its_sender_saw(open_page, folder):
    page = open_page(
        folder / "page.html",
        hash="kernel=OV&number=copying&treatment=folded&layer=5&head=2&measure=stable_rank&layer=99",
    )
    state = page.evaluate("glassformer.store.get()")
    assert (state["kernel"], state["number"], state["treatment"], state["head"]) == (
        "OV",
        "copying",
        "folded",
        2,
    )
    assert state["measure"] == "stable_rank"
    assert "OV copying" in page.locator("#panel-heads .about").inner_text()
    wrong = open_page(folder / "page.html", hash="kernel=XX&number=nothing&head=900&weight=zzz")
    assert wrong.evaluate("glassformer.store.get().kernel") == "QK"


def test_a_point_over_depth_shows_its_weight(open_page, folder):
    page = open_page(folder / "page.html")
    depth = drawn(page, "depth")
    depth.locator('circle[data-key="4:W_up:raw"]').click()
    page.wait_for_function("() => glassformer.store.get().weight === '4:W_up:raw'")
    assert "W_up of layer 4" in drawn(page, "weight").locator(".about").inner_text()
    assert depth.locator("tbody tr").count() == 7


def test_tables_sort_and_filter(open_page, folder):
    page = open_page(folder / "page.html")
    table = drawn(page, "head-table")
    table.locator("input[type=search]").fill("OV raw eff_rank>2")
    rows = [
        float(row["eff_rank"])
        for row in read_rows(folder / "heads.csv")
        if row["kernel"] == "OV" and row["treatment"] == "raw"
    ]
    wanted = sorted((rank for rank in rows if rank > 2), reverse=True)
    page.wait_for_function(
        "n => document.querySelectorAll('#panel-head-table tbody tr').length === n", arg=len(wanted)
    )
    table.get_by_role("button", name="effective rank", exact=True).click()
    page.wait_for_selector("#panel-head-table th[aria-sort=descending]")
    at = table.locator("thead th").all_inner_texts().index("effective rank ↓")
    first = table.locator("tbody tr").first.locator("td").nth(at).inner_text()
    assert float(first) == pytest.approx(wanted[0], rel=1e-4)


@pytest.mark.parametrize("width", [390, 1280])
def test_two_models_stand_side_by_side(open_page, pair, width):
    page = open_page(pair / "page.html", width=width, dark=width == 390)
    maps = page.locator("#panel-heads .heats svg")
    assert maps.count() == 3
    assert "<b>&tuned" in page.locator("h1").inner_text() and page.locator("h1 b").count() == 0
    for panel in ("head", "depth", "change", "weight", "head-table", "weight-table"):
        assert drawn(page, panel).locator(".failed").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    rows = read_rows(pair / "comparison_heads.csv")
    difference = page.evaluate("glassformer.payload.comparison.comparison_heads.map((one) => one.name)")
    assert "eff_rank_change" in difference and len(rows) == 6 * 4 * 2


def test_a_weight_of_the_second_model_alone_is_shown(open_page, made, tmp_path):
    """Its row is in that model's table, where a click chooses it; the first model has no such layer."""
    longer = write_llama(tmp_path / "longer", layers=8)
    spectra(made["here"] / "base", longer, out=tmp_path / "unlike.spectra", **QUIET)
    page = open_page(tmp_path / "unlike.spectra" / "page.html")
    table = drawn(page, "weight-table")
    table.locator("select").select_option(label="longer")
    table.locator("input[type=search]").fill("layer=7 W_up")
    table.locator("tbody tr", has_text="W_up").first.click()
    page.wait_for_function("() => glassformer.store.get().weight === '7:W_up:raw'")
    weight = drawn(page, "weight")
    assert page.locator(".failed").count() == 0
    assert "W_up of layer 7" in weight.locator(".about").inner_text()
    page = open_page(tmp_path / "unlike.spectra" / "page.html", hash="weight=7:W_up:raw&layer=7")
    state = page.evaluate("glassformer.store.get()")
    assert (state["weight"], state["layer"]) == ("7:W_up:raw", 7)


def test_two_models_have_the_names_of_the_comparison(pair):
    payload = make_comparison_payload(pair)
    assert [model["name"] for model in payload["models"]] == ["base", "<b>&tuned"]
    assert (
        payload["change"]["weightTable"]
        and json.loads((pair / "summary.json").read_text())["second"] == "<b>&tuned"
    )


@pytest.mark.parametrize("settings", [{"heads_only": True}, {"layers": "1"}])
def test_parts_of_a_model_have_a_page_too(open_page, made, tmp_path, settings):
    spectra(made["here"] / "base", out=tmp_path / "part.spectra", **settings, **QUIET)
    page = open_page(tmp_path / "part.spectra" / "page.html")
    for panel in ("heads", "head", "depth", "weight", "head-table", "weight-table"):
        drawn(page, panel)
    assert page.locator(".failed").count() == 0
    assert page.locator("#panel-depth p.missing").count() == ("heads_only" in settings)


def test_a_model_without_heads_shows_its_weights(open_page, tmp_path):
    from safetensors.numpy import save_file

    draw = np.random.default_rng(0).standard_normal
    path = tmp_path / "strange.safetensors"
    save_file({f"block.{i}.<i>mix</i>.weight": draw((6, 5)).astype(np.float32) for i in range(3)}, path)
    spectra(path, out=tmp_path / "strange.spectra", **QUIET)
    page = open_page(tmp_path / "strange.spectra" / "page.html")
    for panel in ("heads", "head", "depth", "weight", "weight-table"):
        drawn(page, panel)
    assert page.locator(".failed").count() == 0
    assert page.locator("#panel-heads p.missing").count() == 1
    assert page.locator("#panel-depth circle").count() == 3 and page.locator("i").count() == 0


def test_our_own_model_has_a_page(open_page, tmp_path):
    spectra("nanogpt-58", out=tmp_path / "zoo.spectra", **QUIET)
    page = open_page(tmp_path / "zoo.spectra" / "page.html", width=390)
    for panel in ("heads", "head", "depth", "weight", "head-table", "weight-table"):
        drawn(page, panel)
    assert page.locator(".failed").count() == 0
    assert page.locator("#panel-heads rect[data-layer]").count() == 2


@pytest.mark.parametrize(
    ("file", "content"), [("summary.json", '{"notes": 5}'), ("heads.csv", "layer_idx,head_idx\n0,0\n")]
)
def test_a_folder_that_somebody_edited_is_told_in_a_sentence(folder, tmp_path, file, content):
    edited = shutil.copytree(folder, tmp_path / "edited.spectra")
    (edited / file).write_text(content)
    with pytest.raises(UserError, match=r"is damaged .*; run glassformer spectra again"):
        make_spectra_html(edited)
