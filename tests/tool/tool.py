"""tool.py - tests of the command ozgemm, run by test_tool.sh: tool.py COMMAND EMPTY-FOLDER fast|slow|TEST.

Products are of small integers, so that NumPy's are exact too and results must be equal.

SPDX-License-Identifier: MIT
"""
import io
import itertools
import json
import os
import pty
import signal
import subprocess
import sys

import numpy as np

try:
    import h5py
except ImportError:
    h5py = None

tool, folder = sys.argv[1], sys.argv[2]
rng = np.random.default_rng(1)
count = 0


def path(name):
    return os.path.join(folder, name)


def run(*args, **more):
    return subprocess.run([tool, *args], capture_output=True, text=True, **more)


def good(*args, **more):
    """Run the command; it must succeed and say nothing on stderr. Returns its stdout."""
    global count
    count += 1
    p = run(*args, **more)
    assert p.returncode == 0 and p.stderr == "", (args, p.returncode, p.stderr)
    return p.stdout


def bad(*args, says="", code=2, **more):
    """Run the command; it must fail with one line on stderr and leave no file behind."""
    global count
    count += 1
    before = sorted(os.listdir(folder))
    p = run(*args, **more)
    assert p.returncode == code, (args, p.returncode, p.stderr)
    assert p.stderr.startswith("ozgemm") and p.stderr.count("\n") == 1 and p.stderr.endswith("\n"), (args, p.stderr)
    assert says in p.stderr, (args, says, p.stderr)
    assert sorted(os.listdir(folder)) == before, (args, set(os.listdir(folder)) ^ set(before))


def integers(shape, dtype):
    x = rng.integers(-50, 50, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.integers(-50, 50, shape)
    return x.astype(dtype)


def op(x, trans):
    return {"n": x, "t": x.T, "c": x.conj().T}[trans]


def read_mtx(name):
    """The array files that the command writes."""
    lines = open(name).read().split("\n")
    field = lines[0].split()[3]
    rows, cols = map(int, lines[1].split())
    numbers = np.array([[float(w) for w in line.split()] for line in lines[2:] if line])
    values = numbers[:, 0] + 1j * numbers[:, 1] if field == "complex" else numbers[:, 0]
    return values.reshape((cols, rows)).T


def load(name):
    if name.endswith(".npy"):
        return np.load(name)
    if name.endswith(".mtx"):
        return read_mtx(name)
    if h5py:
        with h5py.File(name, "r") as f:
            return f["matrix"][()]
    good("multiply", name, path("one.npy"), "-o", path("back.npy"))
    return np.load(path("back.npy"))


def write_mtx(name, x):
    """An array file."""
    with open(name, "w") as f:
        complex_ = x.dtype.kind == "c"
        f.write("%%%%MatrixMarket matrix array %s general\n" % ("complex" if complex_ else "real"))
        f.write("%d %d\n" % x.shape)
        for v in x.T.ravel():
            f.write("%r %r\n" % (v.real, v.imag) if complex_ else "%r\n" % v)


# ---- formats, types, transposes ----------------------------------------------------------------------------------

def test_types():
    """Every pair of types; the result has the common one."""
    for ta, tb in itertools.product(["f4", "f8", "c8", "c16"], repeat=2):
        a, b = integers((5, 7), ta), integers((7, 4), tb)
        np.save(path("a.npy"), a)
        np.save(path("b.npy"), b)
        good("multiply", path("a.npy"), path("b.npy"), "-o", path("c.npy"))
        got = np.load(path("c.npy"))
        assert np.array_equal(got, a.astype("c16") @ b.astype("c16")), (ta, tb)
        assert got.dtype == np.result_type(a, b), (ta, tb, got.dtype)


def test_formats():
    """Every type out to every format and in again."""
    for dtype, fmt in itertools.product(["f4", "f8", "c8", "c16"], ["npy", "h5", "mtx"]):
        a, b = integers((5, 7), dtype), integers((7, 4), dtype)
        np.save(path("a.npy"), a)
        np.save(path("b.npy"), b)
        np.save(path("one.npy"), np.eye(4, dtype=dtype))
        good("multiply", path("a.npy"), path("b.npy"), "-o", path("c." + fmt))
        got = load(path("c." + fmt))
        assert np.array_equal(got, a @ b), (dtype, fmt)
        assert fmt == "mtx" or got.dtype == np.dtype(dtype), (dtype, fmt, got.dtype)
        good("multiply", path("c." + fmt), path("one.npy"), "-o", path("d.npy"))
        assert np.array_equal(np.load(path("d.npy")), a @ b), (dtype, fmt)


def test_transposes():
    a, b = integers((6, 9), "c16"), integers((9, 3), "c16")
    for fmt in ["npy", "h5", "mtx"]:
        for name, x, trans in itertools.chain(((f"a{t}", a, t) for t in "ntc"), ((f"b{t}", b, t) for t in "ntc")):
            stored = np.ascontiguousarray(op(x, trans))
            if fmt == "npy":
                np.save(path(name + ".npy"), stored)
            elif fmt == "mtx":
                write_mtx(path(name + ".mtx"), stored)
            else:
                np.save(path("x.npy"), stored)
                np.save(path("one.npy"), np.eye(stored.shape[1]))
                good("multiply", path("x.npy"), path("one.npy"), "-o", path(name + ".h5"))
        for ta, tb in itertools.product("ntc", "ntc"):
            good("multiply", path(f"a{ta}.{fmt}"), path(f"b{tb}.{fmt}"), "-o", path("c.npy"), "--transa", ta,
                 "--transb", tb.upper())
            assert np.array_equal(np.load(path("c.npy")), a @ b), (fmt, ta, tb)


def test_npy_variants():
    """Byte orders, orders of storage, integers, versions of the format."""
    eye = np.eye(4)
    np.save(path("one.npy"), eye)
    for dtype in ["<f8", ">f8", "<f4", ">f4", "<c16", ">c16", "<c8", ">c8", "<i4", ">i4", "<i8", ">i8", "i1", "u1",
                  "<i2", ">u2", "<u4", ">u8"]:
        for order in "CF":
            x = np.asarray(integers((3, 4), "f8").clip(0 if "u" in dtype else -50, 50), dtype=dtype, order=order)
            with open(path("x.npy"), "wb") as f:
                np.lib.format.write_array(f, x, (1 if order == "C" else 2, 0))
            good("multiply", path("x.npy"), path("one.npy"), "-o", path("y.npy"))
            assert np.array_equal(x, np.load(path("y.npy"))), (dtype, order)
    for value, exact in [(2**53, True), (2**53 + 1, False), (-2**53 - 1, False), (-2**63, True), (2**62 + 2**10, True),
                         (2**62 + 2**9, False), (2**62 + 1, False), (2**63 - 1, False)]:
        np.save(path("x.npy"), np.array([[value]], dtype="i8"))
        np.save(path("one.npy"), np.eye(1))
        if exact:
            good("multiply", path("x.npy"), path("one.npy"), "-o", path("y.npy"), "--accuracy", "width=60")
            assert int(np.load(path("y.npy"))[0, 0]) == value, value
        else:
            bad("multiply", path("x.npy"), path("one.npy"), "-o", path("z.npy"), says="no double")


def test_full_mantissas():
    """Numbers of 53 bits, subnormal numbers and special ones come through every format bit by bit."""
    x = rng.standard_normal((6, 6)) * 2.0 ** rng.integers(-30, 30, (6, 6))
    x[0, :] = [5e-324, 2.2e-308, -1e-310, 0, 0, 1e-315]
    x[1, :3] = [1.7976931348623157e308, -np.pi, 1e300]
    np.save(path("x.npy"), x)
    np.save(path("one.npy"), np.eye(6))
    good("multiply", path("x.npy"), path("one.npy"), "-o", path("y.npy"), "--accuracy", "width=160")
    assert np.array_equal(np.load(path("y.npy"))[[0, 2, 3, 4, 5]], x[[0, 2, 3, 4, 5]])
    for fmt in ["h5", "mtx"]:
        good("multiply", path("y.npy"), path("one.npy"), "-o", path("y." + fmt), "--accuracy", "width=160")
        good("multiply", path("y." + fmt), path("one.npy"), "-o", path("z.npy"), "--accuracy", "width=160")
        assert np.load(path("y.npy")).tobytes() == np.load(path("z.npy")).tobytes(), fmt
    s = np.array([[np.inf, 1], [-np.inf, 2], [np.nan, 3], [4, 5]])
    np.save(path("s.npy"), s)
    np.save(path("one.npy"), np.array([[1.0], [1.0]]))
    for fmt in ["h5", "mtx", "npy"]:
        good("multiply", path("s.npy"), path("one.npy"), "-o", path("t." + fmt))
        np.save(path("i.npy"), np.eye(1))
        good("multiply", path("t." + fmt), path("i.npy"), "-o", path("u.npy"))
        assert np.array_equal(np.load(path("u.npy")), s.sum(1, keepdims=True), equal_nan=True), fmt


def test_alpha_beta():
    a, b, c = integers((5, 3), "f8"), integers((3, 4), "f8"), integers((5, 4), "f8")
    for name, x in [("a", a), ("b", b), ("c", c)]:
        np.save(path(name + ".npy"), x)
    files = [path("a.npy"), path("b.npy"), "-o", path("d.npy")]
    good("multiply", *files, "--alpha", "-2.5")
    assert np.array_equal(np.load(path("d.npy")), -2.5 * (a @ b))
    good("multiply", *files, "--c", path("c.npy"))
    assert np.array_equal(np.load(path("d.npy")), a @ b + c)
    good("multiply", *files, "--c", path("c.npy"), "--alpha", "2", "--beta=-0.5")
    assert np.array_equal(np.load(path("d.npy")), 2 * (a @ b) - 0.5 * c)
    good("multiply", *files, "--c", path("c.npy"), "--alpha", "1,2", "--beta=0,1")
    assert np.array_equal(np.load(path("d.npy")), (1 + 2j) * (a @ b) + 1j * c)
    good("multiply", *files, "--type", "c")
    assert np.load(path("d.npy")).dtype == np.dtype("c8") and np.array_equal(np.load(path("d.npy")), a @ b)
    bad("multiply", path("a.npy"), path("b.npy"), "-o", path("new.npy"), "--beta", "2", says="--c FILE")
    bad("multiply", path("a.npy"), path("b.npy"), "-o", path("new.npy"), "--c", path("a.npy"), says="C is 5 x 3")
    bad("multiply", path("a.npy"), path("b.npy"), "-o", path("new.npy"), "--type", "d", "--alpha", "1,2",
        says="--type z or c")


def test_empty():
    for m, k, n in [(0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0)]:
        np.save(path("a.npy"), np.ones((m, k)))
        np.save(path("b.npy"), np.ones((k, n)))
        for fmt in ["npy", "h5", "mtx"]:
            good("multiply", path("a.npy"), path("b.npy"), "-o", path("c." + fmt))
            np.save(path("one.npy"), np.eye(n))
            good("multiply", path("c." + fmt), path("one.npy"), "-o", path("d.npy"))
            assert np.array_equal(np.load(path("d.npy")), np.zeros((m, n))), (m, k, n, fmt)


def test_mtx():
    """Coordinate and array files of all fields and symmetries."""
    head = "%%MatrixMarket matrix "
    cases = [
        ("coordinate real general\n% a comment\n\n2 3 3\n1 1 1.5\n2 3 -2e1\n1 3 4\n", [[1.5, 0, 4], [0, 0, -20]]),
        ("coordinate integer symmetric\n3 3 3\n1 1 7\n3 1 -2\n3 2 5\n", [[7, 0, -2], [0, 0, 5], [-2, 5, 0]]),
        ("coordinate pattern general\n2 2 2\n1 2\n2 1\n", [[0, 1], [1, 0]]),
        ("coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", [[1, 1], [1, 0]]),
        ("coordinate real skew-symmetric\n2 2 1\n2 1 3\n", [[0, -3], [3, 0]]),
        ("coordinate complex hermitian\n2 2 2\n1 1 2 0\n2 1 3 4\n", [[2, 3 - 4j], [3 + 4j, 0]]),
        ("coordinate complex symmetric\n2 2 1\n2 1 3 4\n", [[0, 3 + 4j], [3 + 4j, 0]]),
        ("array real general\n2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
        ("array real symmetric\n2 2\n1\n2\n3\n", [[1, 2], [2, 3]]),
        ("array real skew-symmetric\n3 3\n1\n2\n3\n", [[0, -1, -2], [1, 0, -3], [2, 3, 0]]),
        ("array complex hermitian\n2 2\n1 0\n2 5\n3 0\n", [[1, 2 - 5j], [2 + 5j, 3]]),
        ("ARRAY Integer GENERAL\n1 2\n-1\n9007199254740992\n", [[-1, 9007199254740992]]),
    ]
    for text, want in cases:
        want = np.array(want)
        open(path("x.mtx"), "w").write(head + text)
        np.save(path("one.npy"), np.eye(want.shape[1]))
        good("multiply", path("x.mtx"), path("one.npy"), "-o", path("y.npy"), "--accuracy", "width=60")
        assert np.array_equal(np.load(path("y.npy")), want), text


def test_hdf5():
    a = integers((3, 4), "f8")
    np.save(path("a.npy"), a)
    np.save(path("one.npy"), np.eye(4))
    for dataset in ["/first", "/group/second", "/first"]:
        good("multiply", path("a.npy"), path("one.npy"), "-o", path("two.h5") + ":" + dataset)
    bad("multiply", path("two.h5"), path("one.npy"), "-o", path("y.npy"), says="2 datasets")
    bad("multiply", path("two.h5") + ":/none", path("one.npy"), "-o", path("y.npy"), says="no dataset /none")
    bad("multiply", path("a.npy"), path("one.npy"), "-o", path("two.h5") + ":/group", says="no dataset")
    good("multiply", path("two.h5") + ":/group/second", path("one.npy"), "-o", path("z.npy"))
    assert np.array_equal(np.load(path("z.npy")), a)
    if not h5py:
        print("NOTE: python3-h5py is missing: HDF5 files were not compared with h5py")
        return
    eye = np.eye(4)
    with h5py.File(path("two.h5"), "r") as f:
        assert np.array_equal(f["first"][()], a) and np.array_equal(f["group/second"][()], a)
    for dtype in ["f4", ">f8", "c8", "c16", "i4", "u8", ">i8"]:
        x = np.abs(integers((3, 4), "f8")).astype(dtype)
        if "c" in dtype:
            x = integers((3, 4), dtype)
        for more in [{}, {"chunks": (2, 3), "compression": "gzip"}]:
            with h5py.File(path("x.h5"), "w") as f:
                f.create_dataset("some/name", data=x, **more)
            good("multiply", path("x.h5"), path("one.npy"), "-o", path("y.h5"))
            with h5py.File(path("y.h5"), "r") as f:
                assert np.array_equal(f["matrix"][()], x @ eye), dtype
    for data, says in [(np.ones(3), "1 dimension"), (np.ones((2, 2, 2)), "3 dimensions"),
                       (np.array([[2**53 + 1]]), "no double"), (np.array([[b"text"]]), "not of real numbers")]:
        with h5py.File(path("x.h5"), "w") as f:
            f["matrix"] = data
        bad("multiply", path("x.h5"), path("one.npy"), "-o", path("new.npy"), says=says)


# ---- bad input ---------------------------------------------------------------------------------------------------

def npy(header, data=b"", version=1, magic=b"\x93NUMPY", length=None):
    text = header.encode() + b"\n"
    size = len(text) if length is None else length
    return magic + bytes([version, 0]) + size.to_bytes(2 if version == 1 else 4, "little") + text + data


def header(descr="'<f8'", order="False", shape="(2, 2)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


def test_bad_files():
    whole = io.BytesIO()
    np.save(whole, np.ones((4, 4)))
    whole = whole.getvalue()
    head = b"%%MatrixMarket matrix "
    huge = "(4611686018427387904, 4611686018427387904)"
    files = [
        ("npy", b"", "cut short"),
        ("npy", whole[:7], "cut short"),
        ("npy", whole[:60], "cut short"),
        ("npy", whole[:-1], "bytes of data"),
        ("npy", whole + b"x", "bytes of data"),
        ("npy", b"\x89PNG" + whole[4:], "no .npy file"),
        ("npy", npy(header(), b"", version=9), "version 9"),
        ("npy", npy(header(), length=60000), "cut short"),
        ("npy", npy(header(shape="(nan, 2)")), "size"),
        ("npy", npy(header(shape="(-1, 2)")), "size"),
        ("npy", npy(header(shape="(99999999999999999999, 2)")), "size"),
        ("npy", npy(header(shape=huge)), "memory"),
        ("npy", npy(header(shape="(1000000000000, 1)")), "bytes of data"),
        ("npy", npy(header(shape="(4,)"), bytes(32)), "1 dimension:"),
        ("npy", npy(header(shape="(2, 2, 1)"), bytes(32)), "3 dimensions"),
        ("npy", npy(header(shape="(2 2)"), bytes(32)), "tuple"),
        ("npy", npy(header(shape="2"), bytes(32)), "shape"),
        ("npy", npy(header(descr="'|O'"), bytes(32)), "type '|O'"),
        ("npy", npy(header(descr="'<f2'"), bytes(8)), "type '<f2'"),
        ("npy", npy(header(descr="'<f16'"), bytes(64)), "type '<f16'"),
        ("npy", npy(header(descr="[('x', '<f8')]"), bytes(32)), "structured"),
        ("npy", npy(header(order="Maybe"), bytes(32)), "understood"),
        ("npy", npy("{'descr': '<f8', 'shape': (2, 2)}", bytes(32)), "must have"),
        ("npy", npy("no dictionary", bytes(32)), "dictionary"),
        ("npy", npy("{'descr': '<f8", bytes(32)), ""),
        ("mtx", b"", "no Matrix Market file"),
        ("mtx", b"%%MatrixMarket matrix array real\n", "no Matrix Market file"),
        ("mtx", b"%%MatrixMarket tensor array real general\n", "no Matrix Market file"),
        ("mtx", head + b"array quaternion general\n1 1\n1\n", "not known"),
        ("mtx", head + b"array pattern general\n1 1\n1\n", "go together"),
        ("mtx", head + b"array real hermitian\n1 1\n1\n", "go together"),
        ("mtx", head + b"array real general\n", "sizes is missing"),
        ("mtx", head + b"array real general\nNaN 2\n", "line 2: the number of rows"),
        ("mtx", head + b"array real general\n2 -2\n", "line 2: the number of columns"),
        ("mtx", head + b"array real general\n2.5 2\n", "line 2"),
        ("mtx", head + b"array real general\n99999999999999999999 2\n", "line 2"),
        ("mtx", head + b"array real general\n4611686018427387904 4611686018427387904\n", "memory"),
        ("mtx", head + b"coordinate real general\n1000000 1000000 1\n1 1 1\n", "GB"),
        ("mtx", head + b"array real general\n2 2 2\n", "more words"),
        ("mtx", head + b"array real symmetric\n2 3\n", "square"),
        ("mtx", head + b"array real general\n2 2\n1\n2\n3\n", "cut short"),
        ("mtx", head + b"array real general\n1 1\n1\n2\n", "more entries"),
        ("mtx", head + b"array real general\n1 1\none\n", "line 3: expected a number"),
        ("mtx", head + b"array real general\n1 1\n1e999\n", "range"),
        ("mtx", head + b"array integer general\n1 1\n9007199254740993\n", "no double"),
        ("mtx", head + b"array complex general\n1 1\n1\n", "expected a number"),
        ("mtx", head + b"coordinate real general\n2 2 2\n1 1 1\n", "has 1 of 2 entries"),
        ("mtx", head + b"coordinate real general\n2 2 1\n3 1 1\n", "outside"),
        ("mtx", head + b"coordinate real general\n2 2 1\n0 1 1\n", "row"),
        ("mtx", head + b"coordinate real general\n2 2 2\n1 1 1\n1 1 2\n", "comes twice"),
        ("mtx", head + b"coordinate real symmetric\n2 2 1\n1 2 1\n", "lower triangle"),
        ("mtx", head + b"coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "lower triangle"),
        ("mtx", head + b"coordinate complex hermitian\n2 2 1\n1 1 1 1\n", "diagonal"),
        ("h5", b"", "HDF5"),
        ("h5", b"no HDF5 at all", "HDF5"),
        ("txt", b"1 2\n", "extension"),
    ]
    np.save(path("a.npy"), np.ones((4, 4)))
    np.save(path("one.npy"), np.eye(4))
    good("multiply", path("a.npy"), path("one.npy"), "-o", path("whole.h5"))
    whole = open(path("whole.h5"), "rb").read()
    files += [("h5", whole[:n], "") for n in [100, len(whole) // 2, len(whole) - 40]]
    for kind, content, says in files:
        name = path("bad." + kind)
        open(name, "wb").write(content)
        bad("multiply", name, path("one.npy"), "-o", path("new.h5"), says=says)
        os.remove(name)


def test_bad_arguments():
    np.save(path("a.npy"), np.ones((3, 4)))
    np.save(path("b.npy"), np.ones((4, 2)))
    a, b, c = path("a.npy"), path("b.npy"), path("new.npy")
    for args, says in [
        ([], "no command"), (["divide"], "no command"), (["--nonsense"], "--nonsense"),
        (["multiply", a], "two matrices"), (["multiply", a, b], "-o FILE"),
        (["multiply", a, b, b, "-o", c], "one too many"),
        (["multiply", a, a, "-o", c], "op(A) is 3 x 4 and op(B) is 3 x 4"),
        (["multiply", a, b, "-o", c, "--transa", "t"], "op(A) is 4 x 3"),
        (["multiply", a, b, "-o", c, "--transa", "x"], "--transa is 'x'"),
        (["multiply", a, b, "-o", c, "--type", "q"], "--type is 'q'"),
        (["multiply", a, b, "-o", c, "--accuracy", "moduli=1"], "2 to 49"),
        (["multiply", a, b, "-o", c, "--accuracy", "moduli=50"], "2 to 49"),
        (["multiply", a, b, "-o", c, "--accuracy", "width=0"], "width"),
        (["multiply", a, b, "-o", c, "--accuracy", "width=199"], "fewer bits"),
        (["multiply", a, b, "-o", c, "--accuracy", "bits=199"], "fewer bits"),
        (["multiply", a, b, "-o", c, "--accuracy", "best"], "--accuracy is 'best'"),
        (["multiply", a, b, "-o", c, "--alpha", "1,2,3"], "--alpha"),
        (["multiply", a, b, "-o", c, "--alpha", "one"], "--alpha"),
        (["multiply", a, b, "-o", c, "--threads", "0"], "--threads"),
        (["multiply", a, b, "-o", c, "--threads", "2.5"], "--threads"),
        (["multiply", a, b, "-o", c, "--memory", "-5"], "--memory"),
        (["multiply", a, b, "-o", c, "--memory", "5X"], "--memory"),
        (["multiply", a, b, "-o", c, "--memory", "99999999999999999999"], "--memory"),
        (["multiply", a, b, "-o", c, "--memory", "9999999999T"], "--memory"),
        (["multiply", a, b, "-o", c, "--memory", "1"], "--memory is too little: this product needs at least "),
        (["multiply", a, b, "-o", c, "--kernel", "none"], "ref\n"),
        (["multiply", a, b, "-o", path("no/such/folder.npy")], "No such file"),
        (["multiply", a, b, "-o", path("c.txt")], "extension"),
        (["multiply", a, b, "-o", folder + ".npy/"], "extension"),
        (["multiply", path("none.npy"), b, "-o", c], "No such file"),
        (["multiply", path("two\nlines.npy"), b, "-o", c], "two?lines"),
        (["accuracy", "--tables", "3"], "2, 6, 7, 8, 13"), (["accuracy", "--families", "nope"], "no family"),
        (["accuracy", "--moduli", "1"], "--moduli"), (["accuracy", "--families", "cancel", "-k", "5"], "even k"),
        (["accuracy", "-m", "0"], "-m"), (["accuracy", "-k", "nan"], "-k"), (["accuracy", "extra"], "leave it out"),
        (["info", "extra"], "leave it out"), (["check", "--bad"], "--bad"),
        (["info", "--blas", "libm.so.6"], "no BLAS"),
    ]:
        bad(*args, says=says)


def test_output():
    """Outputs that cannot be written, and what stays of an old one."""
    np.save(path("a.npy"), rng.standard_normal((300, 300)))
    np.save(path("b.npy"), np.eye(300))
    a, b = path("a.npy"), path("b.npy")
    os.mkdir(path("dir.npy"))
    bad("multiply", a, b, "-o", path("dir.npy"), says="not a regular file")
    os.rmdir(path("dir.npy"))
    os.mkfifo(path("pipe.npy"))
    bad("multiply", a, b, "-o", path("pipe.npy"), says="not a regular file")
    os.remove(path("pipe.npy"))

    def full():  # like a disk with 100 kB left
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    for fmt in ["npy", "h5", "mtx"]:
        old = path("old." + fmt)
        np.save(path("small.npy"), np.ones((2, 2)))
        good("multiply", path("small.npy"), path("small.npy"), "-o", old)
        before = open(old, "rb").read()
        bad("multiply", a, b, "-o", old, says="written", preexec_fn=full)
        bad("multiply", a, b, "-o", path("new." + fmt), says="", preexec_fn=full)
        bad("multiply", a, path("small.npy"), "-o", old, says="op(A)")
        good("multiply", a, b, "-o", path("in.h5"))
        bad("multiply", path("in.h5"), b, "-o", old, says="written", preexec_fn=full)
        assert open(old, "rb").read() == before, fmt
    open(path("text.h5"), "w").write("no HDF5")
    bad("multiply", a, b, "-o", path("text.h5"), says="exists and is no HDF5 file")
    with open("/dev/full", "w") as sink:
        p = subprocess.run([tool, "info"], stdout=sink, stderr=subprocess.PIPE, text=True)
    assert p.returncode == 2 and p.stderr.count("\n") == 1, p
    if os.geteuid() != 0:
        os.mkdir(path("locked"))
        os.chmod(path("locked"), 0o500)
        bad("multiply", a, b, "-o", path("locked/c.npy"), says="Permission denied")
        os.chmod(path("locked"), 0o700)
    os.symlink(path("old.npy"), path("link.npy"))
    good("multiply", path("small.npy"), path("small.npy"), "-o", path("link.npy"))
    assert os.path.islink(path("link.npy")) and np.load(path("old.npy"))[0, 0] == 2
    good("multiply", a, b, "-o", a)  # an output may be an input: it is read before
    assert np.load(a).shape == (300, 300)


# ---- JSON, progress, other commands -------------------------------------------------------------------------------

def test_json():
    np.save(path("a.npy"), np.ones((3, 4)) / 3)
    np.save(path("b.npy"), np.ones((4, 2)))
    o = json.loads(good("multiply", path("a.npy"), path("b.npy"), "-o", path("c.npy"), "--json", "--accuracy",
                        "moduli=16", "--threads", "1", "--kernel", "ref", "--memory", "64M"))
    for key in ["m", "n", "k", "type", "emulated", "kernel", "scheme", "moduli", "width", "products", "bound",
                "largest_entry", "bound_over_largest", "exact", "tiles", "k_chunks", "workspace_bytes", "seconds_scale",
                "seconds_split", "seconds_product", "seconds_reconstruct", "seconds_total", "gflops", "reason"]:
        assert key in o, key
    assert (o["m"], o["n"], o["k"], o["moduli"], o["kernel"], o["emulated"]) == (3, 2, 4, 16, "ref", True)
    assert abs(o["largest_entry"] - 4 / 3) < 1e-15 and 0 < o["bound"] < 1e-14
    o = json.loads(good("info", "--json"))
    assert o["kernels"][-1] == "ref" and o["kernel"] == o["kernels"][0] and o["backends"] == ["cpu"]
    widths = {row["moduli"]: row for row in o["widths"]}
    assert widths[16]["k4096"] == 55 and widths[24]["k65536"] == 83
    assert o["moduli_for_bits"][0]["k4096"] == 16
    assert "OPENBLAS_CORETYPE" in o and "native_blas" in o
    assert "native_blas_core" in o and (o["native_blas"] or o["native_blas_core"] is None)
    text = good("info", env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"})
    assert "OPENBLAS_CORETYPE" in text and "Haswell" in text


def test_summary():
    """What people see: no word on the usual, a hint where bits were rounded away, the least --memory that works."""
    np.save(path("a.npy"), rng.standard_normal((300, 400)))
    np.save(path("b.npy"), rng.standard_normal((400, 200)))
    args = ["multiply", path("a.npy"), path("b.npy"), "-o", path("c.npy")]
    rows = dict(line.split("  ", 1) for line in good(*args, "--accuracy", "width=40").splitlines())
    assert "emulated" not in rows and "workspace (MiB)" in rows, rows
    assert rows["more accuracy"].strip() == "--accuracy bits=56" and rows["inputs kept exactly"].strip() == "no", rows
    text = good(*args, "--accuracy", "width=150")
    assert "more accuracy" not in text, text
    text = good(*args, "--alpha", "0")
    assert "no: alpha = 0" in text and "more accuracy" not in text, text
    bad(*args, "--memory", "1K", says="--memory is too little")
    least = int(run(*args, "--memory", "1K").stderr.split()[-1].rstrip("K"))
    good(*args, "--memory", f"{least}K")
    bad(*args, "--memory", f"{least - 2}K", says=f"needs at least {least}K")


def test_check():
    o = json.loads(good("check", "--json"))
    assert o["passed"] and len(o["checks"]) >= 9
    assert all(row["result"] in ["pass", "left out"] for row in o["checks"])


def on_terminal(args):
    """Run with a terminal as stderr; returns stdout and what appears there."""
    master, slave = pty.openpty()
    p = subprocess.Popen([tool, *args], stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    out = p.stdout.read()
    os.close(master)
    assert p.wait() == 0, (args, shown)
    return out, shown


def test_progress():
    """A bar on a terminal, and the bits do not depend on it."""
    np.save(path("a.npy"), rng.standard_normal((700, 1024)))
    for shape, trans in [((700, 7000), "n"), ((7000, 700), "t")]:
        np.save(path("b.npy"), rng.standard_normal(shape))
        args = ["multiply", path("a.npy"), path("b.npy"), "--transa", "t", "--transb", trans, "--json", "-o"]
        good(*args, path("quiet.npy"))
        out, shown = on_terminal([*args, path("shown.npy")])
        assert json.loads(out)["emulated"]
        assert open(path("quiet.npy"), "rb").read() == open(path("shown.npy"), "rb").read()
        assert shown == b"" or (b"left" in shown and shown.endswith(b"\r\x1b[K")), shown


def test_help():
    text = good("--help")
    assert all(word in text for word in ["multiply", "accuracy", "check", "info", "Examples"])
    for command in ["multiply", "accuracy", "check", "info"]:
        assert "--json" in good(command, "--help")
    assert good("--version").startswith("ozgemm ")


# ---- which tests --------------------------------------------------------------------------------------------------

SLOW = [test_check, test_progress]
tests = [f for name, f in list(globals().items()) if name.startswith("test_")]
for f in tests:
    if sys.argv[3] == ("slow" if f in SLOW else "fast") or sys.argv[3] == f.__name__:
        f()
        print("passed:", f.__name__, flush=True)
print(count, "runs of the command")
