#!/usr/bin/env python3
"""compare.py - times ozgemm against the native products of NumPy and PyTorch, alternately in one process.

    bench/compare.py LIBOZGEMM.so [--type d] [--sizes 1024,2048] [--threads 1,16] [--repeat 5] [--kernel NAME]
                     [--accuracy native,rounded,moduli:14]

For each size and accuracy: GFLOP/s (best of the repetitions), the ratio to the best native product, and the share of the stages. The result is
checked in the same run against the proven bound of the report, so that a fast wrong product cannot pass.

SPDX-License-Identifier: MIT
"""
import argparse
import ctypes as ct
import os
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None


class Config(ct.Structure):
    _fields_ = [("backend", ct.c_int), ("device", ct.c_int), ("threads", ct.c_int), ("memory_limit", ct.c_size_t),
                ("repair_limit", ct.c_uint64), ("policy", ct.c_int), ("stream", ct.c_void_p),
                ("device_pointers", ct.c_int), ("kernel", ct.c_char_p), ("reserved", ct.c_uint64 * 8)]


class Accuracy(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("value", ct.c_int)]


STAGES = ["scale", "split", "product", "reconstruct", "repair", "transfer", "total"]


class Report(ct.Structure):
    _fields_ = ([("emulated", ct.c_int), ("reason", ct.c_char_p), ("backend", ct.c_char_p), ("kernel", ct.c_char_p),
                 ("scheme", ct.c_char_p), ("moduli", ct.c_int), ("width", ct.c_int), ("products", ct.c_int),
                 ("bound", ct.c_double), ("bound_relative", ct.c_double), ("exact", ct.c_int),
                 ("tested", ct.c_uint64), ("repaired", ct.c_uint64), ("special_rows", ct.c_uint64),
                 ("special_cols", ct.c_uint64), ("tiles", ct.c_int64), ("k_chunks", ct.c_int64),
                 ("workspace_bytes", ct.c_size_t)] + [("seconds_" + s, ct.c_double) for s in STAGES]
                + [("reserved", ct.c_uint64 * 8)])


TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


class Library:
    def __init__(self, path):
        self.lib = ct.CDLL(os.path.abspath(path))
        for name in ["moduli", "native", "rounded"]:
            getattr(self.lib, "ozg_" + name).restype = Accuracy
        self.lib.ozg_last_error.restype = ct.c_char_p
        self.lib.ozg_last_error.argtypes = [ct.c_void_p]

    def context(self, threads, kernel):
        cfg, ctx = Config(), ct.c_void_p()
        self.lib.ozg_config_init(ct.byref(cfg))
        cfg.threads = threads
        cfg.kernel = kernel.encode() if kernel else None
        if self.lib.ozg_create(ct.byref(ctx), ct.byref(cfg)):
            raise SystemExit(self.lib.ozg_last_error(None).decode())
        return ctx

    def accuracy(self, text):
        """native, rounded or moduli:14"""
        name, _, number = text.partition(":")
        return getattr(self.lib, "ozg_" + name)(*([int(number)] if number else []))

    def gemm(self, ctx, kind, a, b, c, acc, report):
        """c = a b for Fortran-ordered arrays."""
        (m, k), n = a.shape, b.shape[1]
        i64 = ct.c_int64
        real = ct.c_float if kind in "sc" else ct.c_double
        one, zero = (real(1), real(0)) if kind in "sd" else ((real * 2)(1, 0), (real * 2)(0, 0))
        status = getattr(self.lib, f"ozg_{kind}gemm")(
            ctx, ct.c_char(b"N"), ct.c_char(b"N"), i64(m), i64(n), i64(k), one, ct.c_void_p(a.ctypes.data), i64(m),
            ct.c_void_p(b.ctypes.data), i64(k), zero, ct.c_void_p(c.ctypes.data), i64(m), acc,
            ct.byref(report) if report is not None else None)
        if status:
            raise SystemExit(self.lib.ozg_last_error(ctx).decode())


def clock(f):
    """Best of up to 5 calls in a row (0.3 s). The pause lets the threads of the library before come to rest: they spin."""
    time.sleep(0.3)
    best, begin = float("inf"), time.perf_counter()
    for _ in range(5):
        start = time.perf_counter()
        f()
        end = time.perf_counter()
        best = min(best, end - start)
        if end - begin > 0.3:
            break
    return best


def uniform(rng, m, n):
    """U(-1, 1) with full mantissas at every magnitude: the generator alone gives multiples of 2^-53."""
    return rng.uniform(-1, 1, (m, n)) + rng.uniform(-1, 1, (m, n)) * 2.0 ** -40


def matrix(rng, kind, m, n):
    x = uniform(rng, m, n)
    if kind in "cz":
        x = x + 1j * uniform(rng, m, n)
    return np.asfortranarray(x.astype(TYPES[kind]))


def natives(a, b):
    """name -> function that computes the native product into memory of its own"""
    out = np.empty((a.shape[0], b.shape[1]), a.dtype, order="F")
    f = {"numpy": lambda: np.matmul(a, b, out=out)}
    if torch:
        ta, tb, tc = (torch.from_numpy(np.ascontiguousarray(x)) for x in (a, b, out))
        f["torch"] = lambda: torch.mm(ta, tb, out=tc)
    return f, out


def check(kind, a, b, c, native, report):
    """The result must be within the proven bound of the report, and what a native product may err."""
    rounding = 2.0 ** (-24 if kind in "sc" else -53)
    allowed = report.bound + abs(a).max() * abs(b).max() * len(b) * rounding * 8 * len(b) ** 0.5
    error = abs(c - native).max() / allowed
    if not error < 1:
        raise SystemExit(f"wrong result: n = {len(a)}, {error} times the allowed difference")


def measure(lib, args, kind, n, threads):
    rng = np.random.default_rng(n)
    a, b = matrix(rng, kind, n, n), matrix(rng, kind, n, n)
    c = np.empty_like(a)
    ctx, best = lib.context(threads, args.kernel), {}
    f, native = natives(a, b)
    natively = list(f)
    for name in args.accuracy.split(","):
        f[name] = lambda acc=lib.accuracy(name): lib.gemm(ctx, kind, a, b, c, acc, None)
    for turn in range(args.repeat + 1):
        for name, run in f.items():
            t = clock(run)
            if turn > 0:
                best[name] = min(best.get(name, t), t)
    flops = (8 if kind in "cz" else 2) * n ** 3
    fastest = min(best[x] for x in natively)
    rates = "  ".join(f"{x} {flops / best[x] / 1e9:7.0f}" for x in natively)
    print(f"{kind} n={n:6d} threads={threads:3d} GFLOP/s: {rates}")
    for name in args.accuracy.split(","):
        report = Report()
        lib.gemm(ctx, kind, a, b, c, lib.accuracy(name), report)
        check(kind, a, b, c, native, report)
        shares = " ".join(f"{s} {100 * getattr(report, 'seconds_' + s) / report.seconds_total:.0f}%" for s in STAGES[:5])
        print(f"    {name:10s} {report.kernel.decode():10s} s={report.moduli:2d} products={report.products:2d} "
              f"repaired {100 * report.repaired / n ** 2:5.2f}%  GFLOP/s {flops / best[name] / 1e9:7.0f}  "
              f"time/native {best[name] / fastest:6.3f}  ({shares})", flush=True)
    lib.lib.ozg_destroy(ctx)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("library")
    p.add_argument("--type", default="d")
    p.add_argument("--sizes", default="512,1024,2048")
    p.add_argument("--threads", default="1")
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--kernel")
    p.add_argument("--accuracy", default="native,rounded,moduli:14")
    args = p.parse_args()
    lib = Library(args.library)
    for threads in map(int, args.threads.split(",")):
        if torch:
            torch.set_num_threads(threads)
        try:
            from threadpoolctl import threadpool_limits
            threadpool_limits(threads, "blas")
        except ImportError:
            pass
        for kind in args.type:
            for n in map(int, args.sizes.split(",")):
                measure(lib, args, kind, n, threads)


if __name__ == "__main__":
    main()
