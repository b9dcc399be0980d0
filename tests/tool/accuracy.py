"""accuracy.py - tests of "ozgemm accuracy", run by test_accuracy.sh: accuracy.py COMMAND EMPTY-FOLDER fast|slow|TEST.

The oracle is exact: fractions of the matrices, which are made here again from the definition of the families.

SPDX-License-Identifier: MIT
"""
import json
import math
import os
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np

tool, folder = sys.argv[1], sys.argv[2]
here = os.path.dirname(os.path.abspath(__file__))
U = Fraction(1, 2**53)
METHODS = ["BLAS", "moduli", "native", "rounded"]
count = 0


def path(name):
    return os.path.join(folder, name)


def run(*args):
    global count
    count += 1
    return subprocess.run([tool, "accuracy", *args], capture_output=True, text=True)


def good(*args):
    p = run(*args)
    assert p.returncode == 0 and p.stderr == "", (args, p.returncode, p.stdout, p.stderr)
    return p.stdout


def facts(*args):
    return json.loads(good(*args, "--json"))


# ---- the families that are made of integers alone -------------------------------------------------------------------

MASK = 2**64 - 1


def random_bits(stream, index):
    z = (stream + (index + 1) * 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ z >> 27) * 0x94d049bb133111eb) & MASK
    return z ^ z >> 31


def matrices(name, m, n, k, seed):
    vectors = random_bits(seed, 0)
    data = []
    for side in 0, 1:
        stream = random_bits(seed, 1 + side)
        rows, cols = (k, n) if side else (m, k)
        x = np.zeros((rows, cols))
        for j in range(cols):
            for i in range(rows):
                line, p, element = (j, i, i + j * rows) if side else (i, j, i + j * rows)

                def bits(draw):
                    return random_bits(stream, 4 * element + draw)

                def uni():
                    b, c = bits(0), bits(1)
                    e = 64 - c.bit_length() if c else 63
                    v = math.ldexp(1 + (b >> 12) * 2.0**-52, -1 - e)
                    return -v if b & 1 else v

                def power(index, most):
                    return random_bits(vectors + 3, index) % (2 * most + 1) - most

                at = random_bits(vectors, line) % k
                even = line % 2 == 0
                x[i, j] = {
                    "uni": uni,
                    "unigrid": lambda: math.ldexp((bits(0) >> 10) - 2**53, -53),
                    "int20": lambda: float((bits(0) >> 43) - 2**20),
                    "edge": lambda: 1 - 2.0**-53,
                    "subnormal": lambda: math.ldexp(uni(), 0 if side else -1040),
                    "evil": lambda: math.ldexp(uni(), (-40 if p < m else 0) if side else 40 if p == line % k else 0),
                    "evil2": lambda: math.ldexp(uni(), (-40 if bits(2) & 1 else 0) if side else 40 if p == at else 0),
                    "range": lambda: math.ldexp(uni(), -power(p, 1000) if side else power(p, 1000)),
                    "wide": lambda: (0 if p < k // 4 and even else uni()) if side else
                                    math.ldexp(uni(), 60 if p < k // 4 else 0),
                    "zeros": lambda: 0 if even and random_bits(vectors + 4, p) & 1 == side else uni(),
                    "underflow": lambda: math.ldexp(uni(), 0 if even else 500 if side else -1030),
                }[name]()
        data.append(x)
    return data


def ulp(x):
    """Unit in the last place of the exact value x."""
    if x == 0:
        return Fraction(1, 2**1074)
    e = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    e += abs(x) >= Fraction(2)**e  # 2^(e-1) <= |x| < 2^e
    return Fraction(2)**max(e - 53, -1074)


def figures(a, b, c):
    """What reference_compare() computes, in fractions."""
    half = Fraction(1, 2**1075)
    worst, ulps, right, errors, values = Fraction(0), Fraction(0), 0, Fraction(0), Fraction(0)
    m, n = c.shape
    fa = [[Fraction(v) for v in row] for row in a.tolist()]
    fb = [[Fraction(v) for v in row] for row in b.T.tolist()]
    for i in range(m):
        for j in range(n):
            terms = [x * y for x, y in zip(fa[i], fb[j])]
            exact, size = sum(terms), sum(map(abs, terms))
            e = abs(Fraction(c[i, j]) - exact)
            if e > half:
                worst = max(worst, (e - half) / size if size else math.inf)
            ulps = max(ulps, e / ulp(exact))
            right += float(exact) == c[i, j]  # Fraction rounds correctly, subnormal numbers too
            errors += e * e
            values += exact * exact
    return {"error_u": float(worst / U), "componentwise": float(worst), "max_ulp": float(ulps),
            "correctly_rounded_percent": 100 * right / (m * n), "normwise": float(errors / values)**0.5}


def test_figures():
    """Errors of a few moduli, so that there are some; the product itself comes from "ozgemm multiply"."""
    m, n, k, seed = 5, 4, 24, 7
    for name in ["uni", "unigrid", "int20", "edge", "subnormal", "evil", "evil2", "range", "wide", "zeros",
                 "underflow"]:
        a, b = matrices(name, m, n, k, seed)
        np.save(path("a.npy"), a)
        np.save(path("b.npy"), b)
        rows = facts("--families", name, "--moduli", "5,9,14", "--methods", "moduli", "-m", str(m), "-n", str(n), "-k",
                     str(k), "--seed", str(seed))["tables"][0]["rows"]
        assert [r["moduli"] for r in rows] == [5, 9, 14]
        for row in rows:
            subprocess.run([tool, "multiply", path("a.npy"), path("b.npy"), "-o", path("c.npy"), "--accuracy",
                            f"moduli={row['moduli']}"], check=True, stdout=subprocess.DEVNULL)
            for key, value in figures(a, b, np.load(path("c.npy"))).items():
                assert math.isclose(row[key], value, rel_tol=1e-12), (name, row, key, value)


# ---- shape ----------------------------------------------------------------------------------------------------------

def test_shape():
    o = facts("--families", "uni,phi2", "--moduli", "12,20", "-m", "9", "-n", "8", "-k", "60")
    assert (o["m"], o["n"], o["k"], o["seed"]) == (9, 8, 60, 42) and o["promises_broken"] == 0
    table, = o["tables"]
    assert math.isclose(table["native_promise_u"], 60**0.5 + 1) and set(table["families"]) == {"uni", "phi2"}
    methods = METHODS if o["native_blas"] else METHODS[1:]
    rows = table["rows"]
    for family in "uni", "phi2":
        assert [r["method"] for r in rows if r["family"] == family] == [
            w for w in methods for _ in range(2 if w == "moduli" else 1)]
    for r in rows:
        if "unsupported" in r:
            assert r["method"] in ["native", "rounded"] and "OZG_E_UNSUPPORTED" in r["unsupported"], r
            continue
        for key in ["error_u", "max_ulp", "correctly_rounded_percent", "componentwise", "normwise", "seconds"]:
            assert isinstance(r[key], (int, float)) and r[key] >= 0, (key, r)
        assert math.isclose(r["error_u"] * 2.0**-53, r["componentwise"], rel_tol=1e-12)
        assert (r["moduli"] is None) == (r["method"] == "BLAS") and r["width"] > 0
        assert (r["time_ratio"] is None) == (o["native_blas"] is None)
        assert r.get("promise") == (None if r["method"] == "BLAS" else "kept"), r
        assert ("repaired" in r) == (r["method"] in ["native", "rounded"]), r
        if r["method"] == "native":
            assert r["error_u"] <= 60**0.5 + 1, r
        if r["method"] == "rounded" or r["moduli"] == 20:
            assert r["correctly_rounded_percent"] == 100 and r["max_ulp"] <= 0.5, r
    # a choice of methods, and the text
    rows = facts("--methods", "moduli", "--moduli", "14", "--families", "uni", "-m", "4", "-k", "8")["tables"][0]["rows"]
    assert [r["method"] for r in rows] == ["moduli"] and rows[0]["time_ratio"] is None
    text = good("--families", "uni,phi1,phi2", "--moduli", "14", "-m", "5", "-n", "5", "-k", "9")
    assert "max |e|/(u|A||B|)" in text and "promises of the library: " in text and ", 0 broken" in text
    assert text.count("exp(X N(0,1))") == 1, "one text for phi1 and phi2"
    for word in METHODS[1:]:
        assert re.search(rf"^uni +{word} ", text, re.M), text
    # the same seed gives the same errors; times differ
    same = [re.sub(r" +[0-9.]+$", "", good("--families", "uni", "-m", "5", "-n", "5", "-k", "9", "--seed", s), flags=re.M)
            for s in "778"]
    assert same[0] == same[1] != same[2]


def test_bad_arguments():
    for args, says in [
        (["--methods", "ours"], "blas, moduli, native, rounded"), (["--methods", ","], "--methods is empty"),
        (["--grade", "--families", "uni"], "--grade has matrices of its own"),
        (["--grade", "--tables", "6"], "--grade has matrices of its own"), (["--grade", "-k", "0"], "-k is '0'"),
        (["--grade", "--moduli", "1"], "--moduli"), (["--grade=A"], "--grade"), (["--grade", "--type", "q"], "--type"),
        (["--plot", path("p.pdf")], ".svg or .png"), (["--plot", ".svg"], ".svg or .png"),
        (["--plot", path("it's.svg")], "without quotes"), (["--families", "phi"], "no family"),
        (["--families", "phi-1"], "no family"), (["--families", "evil3"], "no family"),
        (["--families", "all,uni"], "'all' is no family"), (["--families", "all", "-k", "7"], "even k"),
        (["--families", ","], "--families is empty"), (["--blas", "libm.so.6", "--grade"], "no BLAS"),
    ]:
        p = run(*args)
        assert p.returncode == 2 and p.stdout == "" and says in p.stderr and p.stderr.count("\n") == 1, (args, p)
    assert os.listdir(folder) == [] or not any(".part" in f for f in os.listdir(folder))


def test_tables():
    """Known errors of fixed widths, all types, and the tables of the paper."""
    rows = {(r["family"], r["method"], r.get("moduli")): r
            for r in facts("--families", "unigrid,cancel", "--moduli", "12,16,24", "-m", "20", "-n", "30", "-k",
                           "256")["tables"][0]["rows"]}
    exact, few = rows["unigrid", "moduli", 16], rows["unigrid", "moduli", 12]
    assert exact["correctly_rounded_percent"] == 100 and exact["max_ulp"] <= 0.5
    assert few["componentwise"] > 1e-14 and few["width"] == 42
    assert rows["cancel", "moduli", 24]["componentwise"] < 1e-25 and rows["cancel", "moduli", 12]["normwise"] > 1e-5
    if ("unigrid", "BLAS", None) in rows:
        assert 1e-18 < rows["unigrid", "BLAS", None]["componentwise"] < 1e-14
    for type_, families, moduli in [("z", "phi2", "24"), ("c", "uni", "12"), ("s", "subn,hilbert", "12"),
                                    ("d", "edge,int20", "16")]:
        for r in facts("--type", type_, "--families", families, "--moduli", moduli, "--methods", "moduli", "-m", "9",
                       "-n", "8", "-k", "30")["tables"][0]["rows"]:
            assert r["correctly_rounded_percent"] == 100 and r["max_ulp"] <= 0.5, (type_, r)
    text = good("--tables", "2,6", "-m", "8", "-n", "8", "-k", "64")
    assert "Table 2" in text and "Table 6" in text and "sincos" in text
    assert "125.6" in text and "185.2" in text
    assert "unigrid" in good("--families", "list")


# ---- grades ---------------------------------------------------------------------------------------------------------

TESTS = ["growth", "rows", "inside", "wide", "zeros", "spike", "range", "underflow"]


def fake_blas(kind):
    """Compile fake_blas.c; its name, or None without a compiler."""
    name = path(f"lib{kind}.so")
    p = subprocess.run([os.environ.get("OZG_CC", "cc"), "-std=c11", "-O1", "-ffp-contract=off", "-shared", "-fPIC",
                        f"-DKIND={kind}", os.path.join(here, "fake_blas.c"), "-o", name, "-lm"],
                       capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return name


def grades(*args, code=0):
    p = run("--grade", "--json", "-m", "16", "-n", "20", "-k", "64", *args)
    assert p.returncode == code and p.stderr == "", (args, p.returncode, p.stdout, p.stderr)
    return json.loads(p.stdout)["grades"]


def test_grade_of_algorithms():
    """Each algorithm gets the grade it is known to have, and fails the tests that look for it."""
    for kind, grade, failed in [
        ("PLAIN", "A", []),
        ("SINGLE", "-", TESTS),
        ("FLUSH", "C", ["underflow"]),
        ("FIXED", "B", ["inside", "wide", "spike", "range"]),
        ("GLOBAL", "C", ["rows", "inside", "wide", "spike", "range", "underflow"]),
        ("STRASSEN", "-", ["rows", "inside", "wide", "zeros", "spike", "range"]),  # its sums overflow in "range"
        ("WRONG", "-", TESTS),
    ]:
        blas, = grades("--methods", "blas", "--blas", fake_blas(kind))["methods"]
        assert [t["test"] for t in blas["tests"]] == TESTS
        assert blas["grade"] == grade, (kind, blas)
        assert [t["test"] for t in blas["tests"] if not t["pass"]] == failed, (kind, blas)
        for t in blas["tests"]:
            assert t["pass"] == (t["grade"] == "A"), t
            assert not t["pass"] or t["error_u"] <= t["limit_u"], t


def test_grade():
    """The methods of the library: a fixed width is B; native and rounded, where they exist, are A."""
    for type_, moduli in ("d", "14,16"), ("z", "14"), ("s", "8"), ("c", "7"):
        o = grades("--type", type_, "--moduli", moduli)
        assert [t["test"] for t in o["tests"]] == TESTS and all(t["family"] and t["tells"] for t in o["tests"])
        by_name = {}
        for method in o["methods"]:
            by_name.setdefault(method["method"], []).append(method)
        for method in by_name["moduli"]:
            assert method["grade"] == "B" and method["worst_ratio"] > 1e3 and method["promise"] == "kept", method
        for word in "native", "rounded":
            method, = by_name[word]
            if "unsupported" in method:
                print(f"NOTE: {word} {type_}: {method['unsupported']}")
                continue
            assert method["grade"] == "A" and method["promise"] == "kept" and method["worst_ratio"] <= 1, method
    text = run("--grade", "-m", "16", "-n", "16", "-k", "64").stdout
    assert re.search(r"^s = 14 +B .*FAIL", text, re.M) and "finds" in text, text


def test_families():
    """Every family, in every type: finite figures, and no promise broken."""
    for type_, moduli in ("d", "14,18"), ("z", "16"), ("s", "8"), ("c", "9"):
        o = facts("--families", "all", "--type", type_, "--moduli", moduli, "-m", "8", "-n", "7", "-k", "50")
        rows = o["tables"][0]["rows"]
        assert len({r["family"] for r in rows}) == 30 and o["promises_checked"] > 0 and o["promises_broken"] == 0
        for r in rows:
            assert "unsupported" in r or (r["error_u"] is not None and r["max_ulp"] is not None), r
            assert "unsupported" in r or r["method"] != "rounded" or r["correctly_rounded_percent"] == 100, r


def test_table_7():
    table, = facts("--tables", "7", "-m", "4", "-n", "4")["tables"]
    assert len(table["rows"]) == 18
    for r in table["rows"]:
        assert 8 <= r["rounded_99_9_percent"] <= r["rounded_100_percent"] <= 24, r
        if "rounded_unsupported" not in r:
            assert r["rounded_percent"] == 100 and r["rounded_moduli"] >= 2 and r["promise"] == "kept", r
        if "native_unsupported" not in r:
            assert r["native_error_u"] <= r["k"]**0.5 + 1, r


def test_plot():
    if subprocess.run("command -v gnuplot", shell=True, capture_output=True).returncode:
        p = run("--plot", path("p.svg"))
        assert p.returncode == 2 and "gnuplot" in p.stderr
        print("NOTE: no gnuplot: pictures were not tested")
        return
    for name, start in ("p.svg", b"<?xml"), ("p.png", b"\x89PNG"):
        good("--plot", path(name), "--families", "uni,phi20,int20", "--moduli", "12,16,20", "-m", "9", "-n", "9", "-k",
             "90")
        assert open(path(name), "rb").read().startswith(start)
        assert not os.path.exists(path(name + ".part"))
    text = open(path("p.svg")).read()
    assert all(word in text for word in ["uni", "phi20", "native BLAS", "fixed width"])
    p = run("--plot", path("no/folder.svg"), "--families", "uni", "-m", "4", "-n", "4", "-k", "8")
    assert p.returncode == 2 and "gnuplot could not" in p.stderr.splitlines()[-1], p


# ---- which tests ----------------------------------------------------------------------------------------------------

if run("--families", "uni", "-m", "2", "-n", "2", "-k", "2").returncode == 2:
    print("SKIPPED: this build of the command has no exact reference (FLINT)")
    sys.exit(77)
FAST = [test_figures, test_shape, test_bad_arguments]
for f in [f for name, f in list(globals().items()) if name.startswith("test_")]:
    if sys.argv[3] == ("fast" if f in FAST else "slow") or sys.argv[3] == f.__name__:
        f()
        print("passed:", f.__name__, flush=True)
print(count, "runs of the command")
