"""speed_cuda.py - tests of "ozgemm speed --backend cuda", run by test_speed_cuda.sh: speed_cuda.py PROGRAM FOLDER.

PROGRAM is prog_speed. FOLDER has folders with stand-ins for the driver, cuBLAS and NVML; which one is used is in their
names and in test_speed_cuda.sh. No test looks at a time.

SPDX-License-Identifier: MIT
"""
import json
import os
import shutil
import subprocess
import sys

program, folder = sys.argv[1], sys.argv[2]
quick = ["--backend", "cuda", "--runs", "1", "--seconds", "0"]


def run(*args, libs="all", device=()):
    env = {**os.environ, "LD_LIBRARY_PATH": os.path.join(folder, libs)}
    return subprocess.run([program, *device, "--", *args], capture_output=True, text=True, env=env)


def good(*args, **more):
    p = run(*quick, *args, **more)
    assert p.returncode == 0 and p.stderr == "", (args, more, p.returncode, p.stderr, p.stdout)
    return p.stdout


def bad(*args, says, **more):
    p = run(*args, **more)
    assert p.returncode == 2 and p.stdout == "", (args, p.returncode, p.stdout, p.stderr)
    assert p.stderr.startswith("ozgemm") and p.stderr.count("\n") == 1 and says in p.stderr, (args, says, p.stderr)


def rows_of(o):
    return {(r["type"], r["m"], r["n"], r["k"], r["method"]): r for r in o["rows"]}


def near(x, y):
    return abs(x - y) <= 1e-9 * abs(y)


STAGES = ["scale", "split", "product", "reconstruct", "repair"]


def check_pace(r, native, work):
    """What must hold between the figures of a row."""
    for name in ["burst", "sustained"]:
        p = r[name]
        assert p["seconds"] > 0 and near(p["tflops"] * 1e12, work / p["seconds"]), (name, r)
        assert ("ratio" in p) == (native is not None and r["method"] not in ("cuBLAS", "int8")), r
        assert "ratio" not in p or near(p["ratio"], p["seconds"] / native[name]["seconds"]), r
        assert ("stages_ms" in p) == ("limit_share" in p) == ("products" in r), r
        if "products" in r:
            assert 0 < p["limit_share"] <= 1, r
            assert all(p["stages_ms"][x] >= 0 for x in STAGES), r
            assert 0 < sum(p["stages_ms"][x] for x in STAGES) <= 1.01 * p["stages_ms"]["total"], r
    assert r["burst"]["seconds_min"] <= r["burst"]["seconds"] and r["burst"]["calls"] == 1, r
    # 6 J from one question to the next: for the calls of the window and a fifth of them before it
    p = r["sustained"]
    assert p["calls"] >= 2 and near(p["joules"], 6 / (p["calls"] + p["calls"] // 5 + 1)) and p["clock_mhz"] == 1500, r
    assert near(p["watts"], p["joules"] / p["seconds"]), r
    assert ("energy_ratio" in p) == ("ratio" in p), r
    assert "ratio" not in p or near(p["energy_ratio"], p["joules"] / native["sustained"]["joules"]), r


def test_json():
    o = json.loads(good("--json", "--shape", "17,9,33", "--types", "d,s,c,z", "--accuracies", "moduli=9"))
    for key in ["version", "family", "data", "seed", "runs", "seconds", "device", "cuda_driver", "power_limit_watts",
                "cublas", "cublas_version", "limits", "notes", "rows"]:
        assert key in o, key
    assert o["power_limit_watts"] == 700 and o["cublas_version"] == 130100 and o["notes"] == [], o
    assert o["cublas"].endswith("libcublas.so.13") and o["device"] == "emulated device 0"
    rows, rates = rows_of(o), {"burst": [], "sustained": []}
    assert len(rows) == 4 * 4
    for (type_, m, n, k, method), r in rows.items():
        assert r["available"] and r["reason"] == "" and r["wrong"] is None and "threads" not in r, r
        parts = 2 if type_ in "cz" else 1
        work = 2 * 32 * 16 * 48 if method == "int8" else (8 if parts == 2 else 2) * m * n * k
        check_pace(r, None if method == "cuBLAS" else rows[type_, m, n, k, "cuBLAS"], work)
        if method == "int8":
            assert r["checked"]["sampled"] == 32 * 16, r
        else:
            assert r["checked"]["sampled"] == m * n * parts, r
            assert r["checked"]["compared"] == (0 if method == "cuBLAS" else m * n * parts), r
        if method == "moduli=9":
            assert r["moduli"] == 9 and r["backend"] == "cuda" and r["kernel"] == "cuda-mma", r
            assert r["checked"]["defined"] == m * n, r
            assert r["products"] == (20 if parts == 2 else 9) and r["workspace_bytes"] > 0, r
        for name in rates:
            p = r[name]
            rates[name] += [p["tflops"]] if method == "int8" else []
            rates[name] += [2e-9 * r["products"] * m * n * k / p["stages_ms"]["product"]] if method == "moduli=9" else []
        assert method != "cublas-emulated" or r.get("emulation_bits") == (55 if type_ in "dz" else None), r
    for name in rates:
        best = max(rates[name])
        assert near(o["limits"][name + "_tops"], best), (o["limits"], rates)
        for r in rows.values():
            if "products" in r:
                share = 2e-12 * r["products"] * r["m"] * r["n"] * r["k"] / best / r[name]["seconds"]
                assert near(r[name]["limit_share"], share), r


def test_accuracies():
    """native and rounded; the text with both tables; what cannot be served says why."""
    text = good("--sizes", "20", "--compare", "none", "--accuracies", "native,rounded,width=170")
    for word in ["GPU: emulated device 0, limit of power 700 W", "native BLAS: cuBLAS 13.1", "\ndgemm\n", "sustained",
                 "stages of a call", "reconstruct", "width=170: not available: "]:
        assert word in text, (word, text)
    assert "NOTE" not in text and "int8 " not in text and "cublas-emulated" not in text, text
    lines = [line.split() for line in text.splitlines() if line.startswith("20  ")]
    assert [line[1] for line in lines] == ["cuBLAS", "native", "rounded", "width=170", "native", "rounded"], text
    o = json.loads(good("--sizes", "20", "--compare", "int8", "--accuracies", "rounded", "--json"))
    assert [r["method"] for r in o["rows"]] == ["cuBLAS", "rounded", "int8"]
    assert rows_of(o)["d", 20, 20, 20, "rounded"]["checked"]["correctly_rounded_percent"] == 100


def test_missing():
    """Without cuBLAS, its emulation, its integers or NVML there are notes and empty columns, and no error."""
    args = ["--json", "--sizes", "16", "--accuracies", "moduli=4"]
    o = json.loads(good(*args, libs="none"))
    rows = rows_of(o)
    assert any("status 1" in x and "--cublas" in x for x in o["notes"]) and any("NVML" in x for x in o["notes"]), o["notes"]
    assert o["cublas"] is None and o["cublas_version"] is None and o["power_limit_watts"] is None
    assert [key[4] for key in rows] == ["moduli=4", "cublas-emulated", "int8"]
    r = rows["d", 16, 16, 16, "moduli=4"]
    assert "ratio" not in r["burst"] and r["sustained"]["joules"] is None and r["sustained"]["clock_mhz"] is None, r
    assert all(rows["d", 16, 16, 16, x]["reason"] == "there is no cuBLAS" for x in ["cublas-emulated", "int8"]), rows
    o = json.loads(good(*args, libs="old"))
    rows = rows_of(o)
    assert any("lacks functions" in x for x in o["notes"]), o["notes"]
    assert "no emulation" in rows["d", 16, 16, 16, "cublas-emulated"]["reason"], rows
    assert "cublasGemmEx" in rows["d", 16, 16, 16, "int8"]["reason"], rows
    r = rows["d", 16, 16, 16, "moduli=4"]
    assert r["sustained"]["ratio"] > 0 and r["sustained"]["joules"] is None and r["sustained"]["energy_ratio"] is None, r
    o = json.loads(good(*args, "--cublas", "none", libs="broken"))
    assert o["cublas"] is None and len(o["notes"]) == 1 and any("does not count the energy" in x for x in o["notes"]), o["notes"]
    assert o["power_limit_watts"] == 700
    text = good(*args[1:], libs="none")
    assert "NOTE: cublasCreate of cuBLAS failed" in text and "int8: not available: there is no cuBLAS" in text, text


def test_emulation():
    """The emulation of cuBLAS need not give the same bits twice; if it did not emulate, a remark says so."""
    args = ["--sizes", "16", "--accuracies", "moduli=4", "--compare", "cublas-emulated"]
    o = json.loads(good(*args, "--json", libs="flicker"))
    assert "remark" not in rows_of(o)["d", 16, 16, 16, "cublas-emulated"], o["rows"]
    o = json.loads(good(*args, "--json", libs="silent"))
    assert "probably not emulated" in rows_of(o)["d", 16, 16, 16, "cublas-emulated"]["remark"], o["rows"]
    text = good(*args, libs="silent")
    assert "see below" in text and "cublas-emulated at n = 16: the bits of native cuBLAS" in text, text


def check_wrong(p, methods, says):
    assert p.returncode == 1 and p.stderr.count("\n") == 1 and "wrong" in p.stderr, (p.returncode, p.stderr)
    rows = json.loads(p.stdout)["rows"]
    for r in rows:
        assert (r["wrong"] is not None) == (r["method"] in methods), r
        assert r["wrong"] is None or ("burst" not in r and "sustained" not in r and says in r["wrong"]), r
        assert r["wrong"] is not None or "sustained" in r, r
    return {r["method"]: r for r in rows}


def test_wrong():
    """A wrong product has no speed, at the first call or at one that is timed, and the exit status says so."""
    args = [*quick, "--sizes", "16", "--accuracies", "moduli=12", "--json"]
    names = ["cuBLAS", "cublas-emulated", "int8"]
    for kind in range(3):
        for when in ["wrong", "late"]:
            rows = check_wrong(run(*args, libs=f"{when}{kind}"), [names[kind]], "(16, 16)")
            assert ("ratio" in rows["moduli=12"]["burst"]) == (kind != 0), rows
    for libs in ["lazy2", "lazy3"]:  # what is timed leaves C as it was: poisoned, not what an earlier call gave
        p = run(*quick, "--sizes", "16", "--accuracies", "moduli=18", "--json", libs=libs)
        check_wrong(p, ["cuBLAS"], "exact product")
    p = run(*args[:-1], libs="wrong0")
    assert p.returncode == 1 and "WRONG: entry (16, 16)" in p.stdout, p


def test_own_wrong():
    """What the library computes is spoiled on its way back: the checked result (1), that of a burst (2), sustained (3)."""
    args = [*quick, "--sizes", "16", "--accuracies", "moduli=12", "--compare", "none", "--json"]
    for nth, bit, says in [(1, 62, "exact product"), (1, 0, "defined result"), (2, 0, "was timed"), (3, 0, "was timed")]:
        p = run(*args, libs="none", device=["--spoil", f"{8 * 16 * 16},{nth},{bit}"])
        check_wrong(p, ["moduli=12"], says)
    p = run(*args, libs="all", device=["--spoil", f"{8 * 16 * 16},4,0"])  # checks of both, bursts of cuBLAS and ours
    check_wrong(p, ["moduli=12"], "was timed")


def test_failing():
    """A call of cuBLAS that fails leaves a row that says so; a driver call that fails ends the command."""
    args = ["--sizes", "16", "--accuracies", "moduli=4"]
    rows = rows_of(json.loads(good(*args, "--json", libs="failing1")))
    r = rows["d", 16, 16, 16, "cuBLAS"]
    assert not r["available"] and "cublasDgemm" in r["reason"] and "status 13" in r["reason"], r
    assert "EXECUTION_FAILED" in r["reason"] and "burst" not in r
    assert "ratio" not in rows["d", 16, 16, 16, "moduli=4"]["burst"], rows
    rows = rows_of(json.loads(good(*args, "--json", libs="failing5")))  # 3 checks, bursts: cuBLAS, emulated
    assert "status 13" in rows["d", 16, 16, 16, "cublas-emulated"]["reason"], rows
    assert rows["d", 16, 16, 16, "int8"]["sustained"]["seconds"] > 0, rows
    for fault, says in [("cuEventRecord,3,719", "GPU failed"), ("cuMemAlloc_v2,1,999", "CUDA"),
                        ("cuMemsetD8Async,1,1", "GPU failed"), ("cuStreamSynchronize,5,719", "GPU failed")]:
        bad(*quick, *args, device=["--fail", fault], says=says)
    text = good("--sizes", "300", "--accuracies", "moduli=4", device=["--memory", "2000000"])
    assert "cuBLAS: not available: the GPU has no memory for the three matrices" in text, text


def test_environment():
    """Settings that make cuBLAS something else than native are told."""
    os.environ["CUBLAS_EMULATE_DOUBLE_PRECISION"] = "1"
    notes = json.loads(good("--json", "--sizes", "8", "--accuracies", "moduli=4", "--compare", "none"))["notes"]
    del os.environ["CUBLAS_EMULATE_DOUBLE_PRECISION"]
    assert len(notes) == 1 and "CUBLAS_EMULATE_DOUBLE_PRECISION=1 is set" in notes[0], notes


def test_plot():
    if shutil.which("gnuplot") is None:
        print("NOTE: no gnuplot: --plot was not tested")
        return
    path = os.path.join(folder, "x.svg")
    good("--sizes", "8,16", "--accuracies", "moduli=4", "--compare", "none", "--plot", path)
    text = open(path, encoding="utf-8").read()
    assert "<svg" in text and all(x in text for x in ["moduli=4", "cuBLAS 13.1", "sustained"]) and "thread" not in text


def test_refusals():
    cuda = ["--backend", "cuda"]
    for args, says in [
        ([*cuda, "--threads", "2"], "--threads"), ([*cuda, "--blas", "libblas.so.3"], "--cublas"),
        (["--cublas", "libcublas.so.13"], "--blas"), ([*cuda, "--cublas", "libm.so.6"], "no cuBLAS"),
        ([*cuda, "--cublas", os.path.join(folder, "broken/libcublas.so.13")], "no cuBLAS"),
        ([*cuda, "--cublas", os.path.join(folder, "none/libcublas.so.13")], "status 1"),
        ([*cuda, "--compare", "dot2"], "cublas-emulated, int8"), (["--compare", "int8"], "dot2, dd, float128"),
        ([*cuda, "--compare", ""], "--compare is empty"), ([*cuda, "--accuracies", "int8"], "--accuracies has 'int8'"),
        (["--backend", "opencl"], "--backend"), (["--backend", "cuda:x"], "--backend"),
        (["--backend", "cuda:1"], "OZG_E_NODEVICE"), ([*cuda, "--kernel", "ref"], "kernel"),
    ]:
        bad(*args, says=says)
    bad(*cuda, device=["--devices", "0"], says="there is no CUDA device")


for name, f in list(globals().items()):
    if name.startswith("test_"):
        f()
        print("passed:", name, flush=True)
