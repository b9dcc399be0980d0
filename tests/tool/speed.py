"""speed.py - tests of "ozgemm speed", run by test_speed.sh: speed.py COMMAND FOLDER. No test looks at a time.

The folder has three BLAS libraries: right.so, and two that are wrong in one entry, last.so and unseen.so.

SPDX-License-Identifier: MIT
"""
import json
import os
import shutil
import subprocess
import sys

tool, folder = sys.argv[1], sys.argv[2]
quick = ["--runs", "2", "--seconds", "0", "--threads", "1"]


def path(name):
    return os.path.join(folder, name)


def run(*args, **more):
    return subprocess.run([tool, "speed", *args], capture_output=True, text=True, **more)


def good(*args, blas="right.so", **more):
    p = run(*quick, "--blas", path(blas), *args, **more)
    assert p.returncode == 0 and p.stderr == "", (args, p.returncode, p.stderr)
    return p.stdout


def bad(*args, says):
    p = run(*args)
    assert p.returncode == 2 and p.stdout == "", (args, p.returncode, p.stdout)
    assert p.stderr.startswith("ozgemm") and p.stderr.count("\n") == 1 and says in p.stderr, (args, says, p.stderr)


def rows_of(*args, **more):
    o = json.loads(good("--json", *args, **more))
    return o, {(r["type"], r["m"], r["n"], r["k"], r["threads"], r["method"]): r for r in o["rows"]}


TIMES = ["turns", "seconds_min", "seconds_median", "gflops"]
RATIOS = ["native_seconds_min", "native_seconds_median", "ratio_min", "ratio_median"]
REPORT = ["backend", "kernel", "moduli", "width", "products", "tested", "repaired", "workspace_bytes", "bound",
          "share_scale", "share_split", "share_product", "share_reconstruct", "share_repair", "limit_seconds",
          "limit_share", "peak_bytes"]


def test_json():
    o, rows = rows_of("--sizes", "33", "--shape", "40,50,60", "--types", "d,c,s,z", "--accuracies",
                      "moduli:9,width=40,width:170")
    for key in ["version", "family", "data", "seed", "runs", "seconds", "native_blas", "native_blas_core",
                "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "peak_bytes_obtained", "notes", "limits", "rows"]:
        assert key in o, key
    assert o["native_blas"].endswith("right.so") and o["native_blas_core"] is None
    assert any("could not be set to 1" in note for note in o["notes"]), o["notes"]
    assert len(rows) == len(o["rows"]) == 2 * 4 * 4
    for (type_, m, n, k, threads, method), r in rows.items():
        if method == "width=170":
            assert not r["available"] and "170" in r["reason"] and "gflops" not in r, r
            continue
        assert r["available"] and r["reason"] == "" and r["wrong"] is None, r
        components = 2 if type_ in "cz" else 1
        assert r["checked"]["sampled"] == min(m, 32) * min(n, 32) * components
        assert all(r[key] > 0 for key in TIMES) and r["turns"] >= 2 and r["seconds_min"] <= r["seconds_median"], r
        if method == "BLAS":
            assert "ratio_min" not in r and r["threads_set"] is False, r
            continue
        assert r["checked"]["compared"] == m * n * components, r
        assert all(key in r for key in RATIOS + REPORT), r
        assert 0 < r["ratio_min"] <= r["ratio_median"] and 0 < r["limit_share"] <= 1 and r["backend"] == "cpu", r
        assert sum(r[key] for key in REPORT if key.startswith("share_")) < 1.01, r
        flops = (8 if components == 2 else 2) * m * n * k
        assert abs(r["gflops"] * r["seconds_min"] * 1e9 / flops - 1) < 1e-9, r
        assert r["products"] >= 1 and abs(r["limit_seconds"] / r["seconds_min"] / r["limit_share"] - 1) < 1e-9
        assert method != "moduli=9" or (r["moduli"] == 9 and r["checked"]["componentwise"] > 0), r
        assert method != "width=40" or r["width"] == 40, r
    assert all(x["multiply_adds_per_second"] > 0 and "fastest product stage" in x["obtained"] for x in o["limits"])


def test_threads():
    o, rows = rows_of("--sizes", "70", "--accuracies", "moduli=9", "--threads", "2,1")
    assert [key[4:] for key in rows] == [(2, "BLAS"), (2, "moduli=9"), (1, "BLAS"), (1, "moduli=9")]
    assert sorted(x["threads"] for x in o["limits"]) == [1, 2]
    assert sum("could not be set" in note for note in o["notes"]) == 2, o["notes"]


def test_accuracies():
    """native and rounded: rows with a speed, or rows that say why not; the defaults have both and 53 bits."""
    _, rows = rows_of("--sizes", "40")
    assert [key[5] for key in rows] == ["BLAS", "native", "rounded", "bits=53"]
    for key, r in rows.items():
        assert ("gflops" in r) == r["available"] == (r["reason"] == ""), r
        if key[5] == "rounded" and r["available"]:
            assert r["checked"]["correctly_rounded_percent"] == 100, r
    _, rows = rows_of("--sizes", "40", "--types", "s")
    assert "bits=24" in [key[5] for key in rows]
    _, rows = rows_of("--sizes", "40", "--family", "int20", "--accuracies", "moduli=16", "--kernel", "ref")
    r = rows["d", 40, 40, 40, 1, "moduli=16"]
    assert r["exact"] and r["kernel"] == "ref" and r["checked"]["correctly_rounded_percent"] == 100
    text = good("--sizes", "40", "--accuracies", "width=170")
    assert "width=170: not available: " in text and "dgemm, 1 thread\n" in text


def test_compare():
    _, rows = rows_of("--shape", "50,300,20", "--types", "d,z", "--accuracies", "moduli=12", "--compare",
                      "dot2,dd,float128")
    for method in ["dot2", "dd", "float128"]:
        assert rows["z", 50, 300, 20, 1, method]["reason"] == "for type d only"
        r = rows["d", 50, 300, 20, 1, method]
        assert r["available"] == ("ratio_min" in r) and ("AVX2" in r["reason"] or r["available"]), r


def test_notes():
    for name in ["OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"]:
        env = {**os.environ, name: "512"}
        o = json.loads(good("--json", "--sizes", "8", env=env))
        assert o[name] == "512" and any(name + "=512 is set" in note for note in o["notes"]), o["notes"]
        assert "NOTE: " + name in good("--sizes", "8", env=env)
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    assert not any("is set" in note for note in json.loads(good("--json", "--sizes", "8", env=env))["notes"])


def test_wrong():
    """A wrong product has no speed, and the exit status says so."""
    for blas, wrong_rows, against in [("last.so", ["BLAS"], "exact product"), ("unseen.so", ["moduli=12", "bits=53"],
                                                                              "native product")]:
        for type_ in "dc":
            args = [*quick, "--blas", path(blas), "--sizes", "64", "--types", type_, "--accuracies",
                    "moduli=12,bits=53"]
            p = run(*args, "--json")
            assert p.returncode == 1 and p.stderr.count("\n") == 1 and "wrong" in p.stderr, (blas, p.stderr)
            for r in json.loads(p.stdout)["rows"]:
                assert (r["wrong"] is not None) == (r["method"] in wrong_rows), (blas, r)
                assert r["wrong"] is None or ("gflops" not in r and against in r["wrong"]), r
                assert r["wrong"] is None or ("(64, 64)" if blas == "last.so" else "(2, 2)") in r["wrong"], r
                assert blas != "last.so" or "ratio_min" not in r, r  # no ratio to a wrong product
        p = run(*args)
        assert p.returncode == 1 and "WRONG" in p.stdout and p.stderr.count("\n") == 1


def test_plot():
    if shutil.which("gnuplot") is None:
        bad("--plot", path("x.svg"), says="gnuplot")
        print("NOTE: no gnuplot: --plot was not tested")
        return
    args = ["--sizes", "20,40", "--accuracies", "moduli=9,bits=53"]
    good(*args, "--plot", path("it's a plot.svg"))
    text = open(path("it's a plot.svg")).read()
    assert "<svg" in text and all(word in text for word in ["moduli=9", "bits=53", "native BLAS", "dgemm, 1 thread"])
    good(*args, "--types", "d,s", "--plot", path("x.png"))
    assert open(path("x.png"), "rb").read(4) == b"\x89PNG"
    p = run(*quick, "--sizes", "8", "--blas", path("right.so"), "--accuracies", "moduli=9", "--plot", path("no/x.svg"))
    assert p.returncode == 2 and "picture" in p.stderr, p


def test_refusals():
    for args, says in [
        (["extra"], "leave it out"), (["--sizes", "0"], "--sizes"), (["--sizes", "12,x"], "--sizes"),
        (["--sizes", ""], "--sizes"), (["--sizes", "3.5"], "--sizes"), (["--shape", "1,2"], "M,N,K"),
        (["--shape", "1,2,3,4"], "M,N,K"), (["--shape", "1,2,0"], "--shape"), (["--types", "q"], "--types"),
        (["--types", "dz"], "--types"), (["--types", "d,"], "--types"), (["--types", ""], "--types"),
        (["--accuracies", "moduli"], "--accuracies has 'moduli'"), (["--accuracies", "moduli:50"], "moduli"),
        (["--accuracies", "moduli:x"], "moduli"), (["--accuracies", "width:0"], "width"),
        (["--accuracies", "best"], "--accuracies has 'best'"), (["--accuracies", "native=3"], "native=3"),
        (["--accuracies", "dot2"], "dot2"), (["--accuracies", ","], "--accuracies is empty"),
        (["--compare", "bits=53"], "--compare"), (["--compare", ""], "--compare"), (["--threads", "0"], "--threads"),
        (["--threads", "1,two"], "--threads"), (["--runs", "0"], "--runs"), (["--seconds", "-1"], "--seconds"),
        (["--seconds", "nan"], "--seconds"), (["--family", "none"], "no family"),
        (["--family", "cancel", "--sizes", "33"], "even"), (["--kernel", "none"], "--kernel"),
        (["--memory", "0"], "--memory"), (["--seed", "-1"], "--seed"), (["--blas", "libm.so.6"], "no BLAS"),
        (["--plot", "x.pdf"], ".png or .svg"), (["--plot", ".svg\n.svg"], "--plot"), (["--nonsense"], "--nonsense"),
    ]:
        bad(*args, says=says)


def test_help():
    text = run("--help").stdout
    assert all(word in text for word in ["--sizes", "--accuracies", "--compare", "--plot", "--json", "Examples"]), text


for name, f in list(globals().items()):
    if name.startswith("test_"):
        f()
        print("passed:", name, flush=True)
