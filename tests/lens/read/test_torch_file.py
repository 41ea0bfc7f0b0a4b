import base64
import math
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import MappedFile
from glassformer.lens.read.torch_file import LEGACY, read_torch_tensors
from tests.lens.read import torch_writer as w

SMALL = 4_000_000
# torch.save of {"state_dict": {p: Parameter(arange(6) as 2 x 3), b: bfloat16 [1, 2], f: float8 [.5, -2], tied: p},
# "epoch": 3} by torch 2.13, compressed
BY_TORCH = (
    "c-o~^OHb559G~5?3zUa1l$W6RTm+Zy1GbnbT1_vFifc3*FHPAFY-8E(zn#@!LPBD|M?9#B2QTWk@Z!Pv4M>b9ZzdW~-n@8mrY%cb"
    "gpE4c>13z#drar|Z)X**1);V!w54^S{fHRVr3qalTDo@Il%+lBR<y0emjR_pJOwyJBUsgqGJ#mRY?&r56T_-H{8d}WHr6lEJ3Pck"
    "i@>EyF$$<bOPN@9xsq1v#4sIRweeitFm<)2+1er|*ybUz%@TsEj%BNNvOFYHsZy(Jz_PUk46Po7mrY9}*S$#|+FVTm+DjZA%e6Z2"
    "N|HdwH3cbgg<FG8g;Qc{(DkUoJa!Y<RfOFS-9LLCz}_P4a~bBKr$QAg8!D13lbLD=?RS@D;6Q~};sknKfmP^JVyn>akq;0UEW$x|"
    ";XDjA*<y}|;Z4D`zfJx|l`Pe;-q1bd(q-YWr#s^79$~siJ>6rz=XqvXRB?VWH(%x9IDr#II9Z}ephu2%NLBXLmtnNjPA61)5E{z>"
    "oN_tFN-P~Pz6__`r+x?94n1Z_D>27$=1K`Vhig{30uu^XPtPi?Z7;99zCRL2i1pcR1J{FwyuhXBEqhTTs?RJ-{abUl(K3wx?T^p*"
    "+1^>-p1&8J@%jBHsA{IMP+i1TB1==-OYGRD^31@@UHDG-hT=OK=th!fU~Y+Eixq_|o%=`Kjb<8zn3#E3J^Q6UNmY_NdgwqGHmiC<"
    "kfpQ#XTW1!nW2~S^hf&&?QhOAN4-zKJ?o=4`kFYJ2sp~f(%9cPqROt;z~i4USbSTWXk83wWo2pRKOg@s;XPA-_w`qz`T2KJcdmLP"
    "*a+o#hF^cRaHBbX5Ka04cI`XZHfVzHY3wbl8oDfH{(d)tn4ivzqL?pCPfZGWv5=b-GFh=87KChWS`Z4N$fiZ+^2vwGH&fI{%5@oI"
    "W*a_(CEm5gdFVS5g$Ap)Cj^5y`r{iR$`CBS-VnojgJDa}M@fS9(;Xryawt-_QEV{j9U<%|4h8Ei3Jk_J46L*Sfte^Un7A<TV+fdy"
    "0)tWO3~w`mLh+0ugU3G@LO$O>{yCVlN-{a_FCFGiH(>3NaXjvgV$vHaj(uQ|?i=u4?}?;`X?NFqYkvbjukua"
)
RNG = np.random.default_rng(0)
ARRAYS = {
    "layer.weight": RNG.standard_normal((4, 6)).astype("<f4"),
    "turned": RNG.standard_normal((5, 3)).astype("<f4").T,
    "cube": RNG.standard_normal((2, 3, 4)).astype("<f8"),
    "half": RNG.standard_normal(7).astype("<f2"),
    "count": np.array(3, "<i8"),
}


def read(path):
    return read_torch_tensors(MappedFile(path))


def test_tensors_are_what_was_written_block_by_block(tmp_path):
    tensors = read(w.write_arrays(tmp_path / "a.bin", ARRAYS))
    assert tensors.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        tensor, whole = tensors[name], array.reshape(math.prod(array.shape[:-1]), -1).astype(np.float64)
        assert tensor.shape == array.shape
        assert np.array_equal(tensor.block(), whole)
        assert np.array_equal(tensor.block(slice(1, 3), slice(2, 3)), whole[1:3, 2:3])
        tensor.forget()


@pytest.mark.parametrize("key", ["state_dict", "model"])
def test_a_nested_state_dict(tmp_path, key):
    def wrap(body):
        return b"}(" + w.text("epoch") + w.number(3) + w.text(key) + body + w.text("done") + b"\x88u"

    tensors = read(w.write_arrays(tmp_path / "a.pt", ARRAYS, wrap))
    assert np.array_equal(tensors["layer.weight"].block(), ARRAYS["layer.weight"])


def test_a_view_into_a_larger_storage(tmp_path):
    storage = np.arange(20, dtype="<f4")
    body = w.dict_of({"w": w.tensor("0", "FloatStorage", 20, (2, 3), (5, 1), offset=6)})
    tensor = read(w.write(tmp_path / "a.bin", body, {"0": storage.tobytes()}))["w"]
    assert tensor.block().tolist() == [[6, 7, 8], [11, 12, 13]]


def test_a_file_that_torch_wrote(tmp_path):
    (tmp_path / "a.pt").write_bytes(zlib.decompress(base64.b85decode(BY_TORCH)))
    tensors = read(tmp_path / "a.pt")
    assert {name: one.dtype for name, one in tensors.items()} == {
        "p": "F32",
        "b": "BF16",
        "f": "F8_E4M3",
        "tied": "F32",
    }
    assert tensors["p"].block().tolist() == tensors["tied"].block().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensors["b"].vector().tolist() == [1, 2] and tensors["f"].vector().tolist() == [0.5, -2]


ONE = w.tensor("0", "FloatStorage", 4, (2, 2), (2, 1))
NUMBERS = {"0": bytes(16)}


@pytest.mark.parametrize(
    "body, storages, sentence",
    [
        (
            w.name_of("os", "system") + b"(" + w.text("ls") + b"tR",
            {},
            "holds 'os.system', but only tensors by name are read",
        ),
        (b"(" + w.text("x") + b"iposix\nsystem\n", {}, "holds a pickled INST"),
        (b"X\x01\x00\x00\x00aX\x01\x00\x00\x00b\x93", {}, "holds 'a.b'"),
        (b"N", {}, "holds no tensors by name; a state_dict is expected"),
        (w.dict_of({"a": b"K\x01"}), {}, "holds no tensors by name"),
        (w.dict_of({"w": ONE}), {}, "lacks the storage '0' of tensor 'w'"),
        (w.dict_of({"w": ONE}), {"0": bytes(15)}, "reach number 4 of a storage that holds 3"),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 4, (2, 2), (2, 1), 1)}),
            NUMBERS,
            "reach number 5 of a storage that holds 4",
        ),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 4, (2, 2), (2**30, 1))}),
            NUMBERS,
            "of a storage that holds 4",
        ),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 4, (2**30, 2**30), (0, 0))}),
            NUMBERS,
            "of a storage that holds 4",
        ),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 4, (2, 2), (-2, 1))}),
            NUMBERS,
            "an offset or strides that fit no tensor",
        ),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 4, (2, 2), (2,))}),
            NUMBERS,
            "an offset or strides that fit no tensor",
        ),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 4, (2, -2), (2, 1))}),
            NUMBERS,
            "a shape that is no list of sizes",
        ),
        (
            w.dict_of({"w": w.tensor("0", "FloatStorage", 8, (2, 2, 2), (1, 2, 4))}),
            {"0": bytes(32)},
            "3 axes in permuted order",
        ),
        (
            w.dict_of({"w": w.tensor("0", "QInt8Storage", 4, (2, 2), (2, 1))}),
            NUMBERS,
            "holds 'torch.QInt8Storage'",
        ),
        (w.dict_of({"w\n": ONE}), NUMBERS, "an unreadable name"),
        (b"R", {}, "is damaged: its pickle cannot be followed to its end"),
        (b"h\x07", {}, "is damaged"),
        (b"}" + b"(" * 3 + b"s", {}, "is damaged"),
        (b"}" + b")" + b"\x85" * 200_000 + b"Ns", {}, "is damaged"),
        (b"\x8a\xff", {}, "is damaged"),
        (w.name_of("torch._utils", "_rebuild_parameter") + b")R", {}, "is damaged"),
    ],
)
def test_what_is_no_state_dict_is_one_sentence(tmp_path, body, storages, sentence):
    path = w.write(tmp_path / "a.bin", body, storages)
    with pytest.raises(UserError, match=sentence) as caught:
        read(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_other_files(tmp_path):
    path = tmp_path / "a.bin"
    cases = {
        b"hello, this is text": "is no PyTorch file: it starts with b'hell'",
        LEGACY + b"\x80\x02.": "was written before PyTorch 1.6",
        b"PK\3\4" + bytes(50): "its zip directory is missing",
    }
    for content, sentence in cases.items():
        path.write_bytes(content)
        with pytest.raises(UserError, match=sentence):
            read(path)
    with pytest.raises(UserError, match="is a TorchScript program"):
        read(w.write(path, b"}", {}, others=[("constants.pkl", b".")]))
    with pytest.raises(UserError, match=r"holds 'archive/data.pkl' packed or locked"):
        read(w.write(path, b"}" * 100, {}, method=zipfile.ZIP_DEFLATED))
    with pytest.raises(UserError, match=r"has 0 members data.pkl"):
        read(w.write(path, b"}", {}, root="a/b/"))


def test_a_truncated_file(tmp_path):
    whole = w.write_arrays(tmp_path / "a.bin", ARRAYS).read_bytes()
    for length in (len(whole) // 2, len(whole) - 1, 100):
        (tmp_path / "a.bin").write_bytes(whole[:length])
        with pytest.raises(UserError, match="cut short"):
            read(tmp_path / "a.bin")


class InMemory:
    place = "example"

    def __init__(self, content):
        self.content, self.size = content, len(content)

    def bytes(self, start, stop):
        assert 0 <= start <= stop <= self.size
        return np.frombuffer(self.content, np.uint8)[start:stop]

    def forget(self, start, stop):
        assert 0 <= start <= stop <= self.size


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return w.write_arrays(tmp_path_factory.mktemp("torch") / "a.bin", ARRAYS).read_bytes()


def read_hostile(content):
    tracemalloc.start()
    try:
        for tensor in read_torch_tensors(InMemory(content)).values():
            assert tensor.block().size == math.prod(tensor.shape)
            tensor.forget()
    except UserError as error:
        assert str(error) and "\n" not in str(error)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < SMALL


@given(
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=6), cut=st.integers(0, 3)
)
def test_mutated_files(whole, changes, cut):
    content = bytearray(whole)
    for place, value in changes:
        content[place % len(content)] = value
    read_hostile(bytes(content[: len(content) - cut]))
