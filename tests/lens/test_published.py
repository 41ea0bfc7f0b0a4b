import pytest

from glassformer.core.errors import UserError
from glassformer.lens.compute.random import compute_random_ranks
from glassformer.lens.published import read_published_table

HEADER = "layer_idx,weight_type,shape,eff_rank\n"


def table(folder, text):
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_in_the_published_columns(tmp_path):
    found = read_published_table(
        table(tmp_path, HEADER + "1,W_V,8x32,6.5\n0,W_V,8x32,7.5\n0,W_Q,32x32,20\n1,W_Q,32x32,24\n")
    )
    assert list(found) == ["W_V", "W_Q"]
    assert found["W_V"].layers == (0, 1) and found["W_V"].series.tolist() == [7.5, 6.5]
    assert found["W_Q"].mean == 22.0 and found["W_Q"].jump.by == 4.0 and found["W_Q"].jump.layer == 1
    assert found["W_Q"].relative_to_random == pytest.approx(22.0 / compute_random_ranks((32, 32)).eff_rank)


def test_more_columns_in_any_order_and_raw_rows_only(tmp_path):
    rows = [
        "eff_rank,note,treatment,expert,layer_idx,shape,weight_type",
        '5,"a, b",raw,0,0,8x8,W_up',
        "7,,raw,1,0,8x8,W_up",
        "1,,folded,1,0,8x8,W_up",
        "6,,raw,,-1,99x8,W_E",
    ]
    found = read_published_table(table(tmp_path, "\ufeff" + "\n".join(rows) + "\n"))
    assert list(found) == ["W_up"] and found["W_up"].mean == 6.0


def test_shapes_are_kept_apart(tmp_path):
    found = read_published_table(table(tmp_path, HEADER + "0,W_V,8x32,6\n1,W_V,4x32,3\n"))
    assert list(found) == ["W_V 8x32", "W_V 4x32"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1 of TABLE names no column layer_idx"),
        ("layer_idx,weight_type,shape\n", "line 1 of TABLE names no column eff_rank"),
        (HEADER, "TABLE holds no row about a layer"),
        (HEADER + "-1,W_E,8x8,6\n", "TABLE holds no row about a layer"),
        (
            HEADER + "0,W_V,8x8,6\nx,W_V,8x8,6\n",
            "layer_idx in line 3 of TABLE must be a whole number, but it is 'x'",
        ),
        (HEADER + "0,,8x8,6\n", "weight_type in line 2 of TABLE is empty"),
        (
            HEADER + "0,W\x1b[31m,8x8,6\n",
            r"weight_type in line 2 of TABLE must be a name such as W_Q, but it is 'W\x1b",
        ),
        (HEADER + "0,W_V,8\x7f,6\n", r"must be like 256x2048, but it is '8\x7f'"),
        (HEADER + "0,W_V,8,6\n", "shape in line 2 of TABLE must be like 256x2048, but it is '8'"),
        (HEADER + "0,W_V,0x8,6\n", "shape in line 2 of TABLE must be like 256x2048"),
        (HEADER + "0,W_V,9999999999x8,6\n", "shape in line 2 of TABLE must be like 256x2048"),
        (HEADER + "0,W_V,8x8,nan\n", "eff_rank in line 2 of TABLE must be a number above 0, but it is 'nan'"),
        (HEADER + "0,W_V,8x8,-3\n", "eff_rank in line 2 of TABLE must be a number above 0"),
        (HEADER + "0,W_V,8x8\n", "eff_rank in line 2 of TABLE must be a number above 0, but it is ''"),
        (HEADER + "0,W_V,8x8,6\n0,W_V,8x8,6\n", "line 3 of TABLE is the second row for W_V of layer 0"),
        (HEADER + '0,W_V,8x8,"6\n', "TABLE is not a table with commas in UTF-8"),
    ],
)
def test_bad_tables_are_one_sentence(tmp_path, text, sentence):
    path = table(tmp_path, text)
    with pytest.raises(UserError) as error:
        read_published_table(path)
    assert sentence.replace("TABLE", str(path)) in str(error.value) and "\n" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match=r"cannot read the table .*No such file"):
        read_published_table(tmp_path / "missing.csv")
    with pytest.raises(UserError, match="cannot read the table"):
        read_published_table(tmp_path)
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a table with commas in UTF-8"):
        read_published_table(tmp_path / "bytes.csv")
