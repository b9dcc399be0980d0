#!/usr/bin/env python3
"""cuda_speed.py - times ozgemm on a CUDA device against cuBLAS, alternately in one process, and checks what it timed.

    bench/cuda_speed.py LIBOZGEMM.so [--type d] [--sizes 1024,4096,8192x8192x256] [--accuracy native,rounded,moduli:15]
                        [--trans NN] [--data uniform] [--kernel NAME] [--batch COUNT] [--prepared ab] [--samples 9]
                        [--json FILE]

Needs PyTorch for memory, streams and events; cuBLAS is called directly, on the same stream, through a fresh handle for
each case. Sizes are n or m x n x k. Matrices are column-major, on the device. --batch: COUNT products of type d in one
call, one behind the other in memory (ozg_dgemm_batch_strided(), cublasDgemmStridedBatched); three of them are checked.
Two figures by CUDA events, since a board at its power limit has two speeds:

    burst       median of --samples calls, each after 100 ms without work; cuBLAS and all accuracies in turn
    sustained   mean over --seconds after as long a time of the same call; cuBLAS first and last

--prepared a, b or ab: each accuracy (but accurate) once more, with these operands prepared before: "native+ab". They
are made once for a case, and their time is not in the figures.

Data (before they are rounded to the type), the same for all. uniform: u + v 2^-40, u and v uniform in (-1, 1): full
mantissas at every magnitude, which the generator's grid of 2^-53 alone does not give. normal: the same of normal
numbers. wide:B: uniform times 2^-w, w uniform in 0 .. B. Complex: both components.

In the same run 64 entries (8 rows x 8 columns) of each result are compared with exact integers: moduli and width have
to be the defined result bit for bit, rounded the correctly rounded one, native has to be within (sqrt(k) + 1) u |A||B|,
accurate within the bound of the report; and the timed call must give the bits of the one with a report. A wrong result
ends the program with status 1. "error" is the worst |error| / (u |A||B|), "right" how many entries are correctly
rounded. A ratio above 1 is in favour of ozgemm.

SPDX-License-Identifier: MIT
"""
import argparse
import copy
import ctypes as ct
import glob
import json
import math
import os
import statistics
import sys
import time

import numpy as np
import torch

I64, VOID = ct.c_int64, ct.c_void_p
STAGES = ["scale", "split", "product", "reconstruct", "repair", "transfer", "total"]


# ---- the library ----------------------------------------------------------------------------------------------

class Config(ct.Structure):
    _fields_ = [("backend", ct.c_int), ("device", ct.c_int), ("threads", ct.c_int), ("memory_limit", ct.c_size_t),
                ("repair_limit", ct.c_uint64), ("policy", ct.c_int), ("stream", VOID), ("device_pointers", ct.c_int),
                ("kernel", ct.c_char_p), ("progress", VOID), ("progress_arg", VOID), ("reserved", ct.c_uint64 * 6)]


class Accuracy(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("value", ct.c_int)]


class Report(ct.Structure):
    _fields_ = ([("emulated", ct.c_int), ("reason", ct.c_char_p), ("backend", ct.c_char_p), ("kernel", ct.c_char_p),
                 ("scheme", ct.c_char_p), ("moduli", ct.c_int), ("width", ct.c_int), ("products", ct.c_int),
                 ("bound", ct.c_double), ("bound_relative", ct.c_double), ("exact", ct.c_int),
                 ("tested", ct.c_uint64), ("repaired", ct.c_uint64), ("special_rows", ct.c_uint64),
                 ("special_cols", ct.c_uint64), ("tiles", ct.c_int64), ("k_chunks", ct.c_int64),
                 ("workspace_bytes", ct.c_size_t)] + [("seconds_" + s, ct.c_double) for s in STAGES]
                + [("reserved", ct.c_uint64 * 8)])


class Guarded(ct.Structure):
    """A structure of the library, and room behind it that must stay as it is."""
    _fields_ = [("bytes", ct.c_uint8 * 1024)]

    def fill(self):
        ct.memset(ct.byref(self), 0xA5, 1024)

    def written(self):
        """How many bytes the library wrote, from the first one on."""
        return max((i + 1 for i, x in enumerate(self.bytes) if x != 0xA5), default=0)


class Type:
    def __init__(self, letter):
        self.letter = letter
        self.complex, self.single = letter in "cz", letter in "sc"
        self.bits, self.least = (24, -149) if self.single else (53, -1074)
        self.greatest = 128 if self.single else 1024
        self.parts = 2 if self.complex else 1
        self.flops = 8 if self.complex else 2
        self.torch = {"s": torch.float32, "d": torch.float64, "c": torch.complex64, "z": torch.complex128}[letter]
        self.real = ct.c_float if self.single else ct.c_double

    def scalar(self, x):
        return (self.real * 2)(x, 0) if self.complex else self.real(x)


class Library:
    def __init__(self, path):
        self.lib = ct.CDLL(os.path.abspath(path))
        for name in ["moduli", "width", "accurate"]:
            getattr(self.lib, "ozg_" + name).argtypes = [ct.c_int]
        for name in ["moduli", "width", "accurate", "native", "rounded"]:
            getattr(self.lib, "ozg_" + name).restype = Accuracy
        self.lib.ozg_width_of_moduli.argtypes = [ct.c_char, I64, ct.c_int]
        self.lib.ozg_last_error.restype = self.lib.ozg_version.restype = ct.c_char_p
        self.lib.ozg_last_error.argtypes = self.lib.ozg_destroy.argtypes = [VOID]
        self.lib.ozg_report_wait.argtypes = [VOID, VOID]
        self.lib.ozg_operand_create.argtypes = [VOID, VOID, ct.c_char, ct.c_char, ct.c_char, I64, I64, VOID, I64,
                                                Accuracy]
        self.lib.ozg_operand_destroy.argtypes = self.lib.ozg_operand_moduli.argtypes = [VOID]
        self.lib.ozg_with_moduli.argtypes, self.lib.ozg_with_moduli.restype = [Accuracy, ct.c_int], Accuracy
        for letter in "sdcz":
            number = VOID if letter in "cz" else Type(letter).real
            getattr(self.lib, f"ozg_{letter}gemm").argtypes = [
                VOID, ct.c_char, ct.c_char, I64, I64, I64, number, VOID, I64, VOID, I64, number, VOID, I64,
                Accuracy, VOID]
            getattr(self.lib, f"ozg_{letter}gemm_prepared").argtypes = [
                VOID, ct.c_char, ct.c_char, I64, I64, I64, number, VOID, VOID, I64, VOID, VOID, I64, number, VOID, I64,
                Accuracy, VOID]
        self.lib.ozg_dgemm_batch_strided.argtypes = [
            VOID, ct.c_char, ct.c_char, I64, I64, I64, ct.c_double, VOID, I64, I64, VOID, I64, I64, ct.c_double,
            VOID, I64, I64, I64, Accuracy, VOID]
        guarded = Guarded()
        guarded.fill()
        self.lib.ozg_config_init(ct.byref(guarded))
        cfg = Config.from_buffer(guarded)
        if guarded.written() != ct.sizeof(Config) or cfg.repair_limit != 2 ** 64 - 1 or any(cfg.reserved):
            sys.exit("this program and the library do not agree on ozg_config")

    def check(self, status, ctx=None):
        if status:
            sys.exit(f"status {status}: {self.lib.ozg_last_error(ctx).decode()}")

    def context(self, stream, kernel, memory):
        cfg, ctx = Config(), VOID()
        self.lib.ozg_config_init(ct.byref(cfg))
        cfg.backend, cfg.stream, cfg.device_pointers, cfg.memory_limit = 2, stream, 1, memory
        cfg.kernel = kernel.encode() if kernel else None
        self.check(self.lib.ozg_create(ct.byref(ctx), ct.byref(cfg)))
        return ctx

    def accuracy(self, text):
        """native, rounded, moduli:14, width:53, accurate:14"""
        name, _, number = text.partition(":")
        return getattr(self.lib, "ozg_" + name)(*([int(number)] if number else []))

    def batch(self, ctx, z, acc, report=None):
        self.check(self.lib.ozg_dgemm_batch_strided(
            ctx, z.trans[0].encode(), z.trans[1].encode(), z.m, z.n, z.k, 1, z.a.data_ptr(), z.lda, z.m * z.k,
            z.b.data_ptr(), z.ldb, z.k * z.n, 0, z.c.data_ptr(), z.m, z.m * z.n, z.count, acc,
            ct.byref(report) if report is not None else None), ctx)

    def prepare(self, ctx, z, acc, sides):
        """Operands of A and B, or None where they are not wanted; the second has the moduli of the first."""
        made = []
        for side, x, ld, rows, cols in ("A", z.a, z.lda, z.m, z.k), ("B", z.b, z.ldb, z.k, z.n):
            operand = VOID()
            if side.lower() in sides:
                self.check(self.lib.ozg_operand_create(
                    ct.byref(operand), ctx, z.type.letter.encode(), side.encode(), z.trans[side == "B"].encode(), rows,
                    cols, x.data_ptr(), ld, acc), ctx)
                acc = self.lib.ozg_with_moduli(acc, self.lib.ozg_operand_moduli(operand))
            made.append(operand)
        return made

    def gemm(self, ctx, z, acc, report=None, operands=None):
        if z.count:
            self.batch(ctx, z, acc, report)
            return
        t = z.type
        one, zero = t.scalar(1), t.scalar(0)
        if t.complex:
            one, zero = ct.cast(one, VOID), ct.cast(zero, VOID)
        shape = ctx, z.trans[0].encode(), z.trans[1].encode(), z.m, z.n, z.k, one
        rest = zero, z.c.data_ptr(), z.m, acc, ct.byref(report) if report is not None else None
        if operands:
            a, b = ((None, 0) if operand else (x.data_ptr(), ld)
                    for operand, x, ld in zip(operands, (z.a, z.b), (z.lda, z.ldb)))
            status = getattr(self.lib, f"ozg_{t.letter}gemm_prepared")(*shape, operands[0], *a, operands[1], *b, *rest)
        else:
            status = getattr(self.lib, f"ozg_{t.letter}gemm")(*shape, z.a.data_ptr(), z.lda, z.b.data_ptr(), z.ldb,
                                                              *rest)
        self.check(status, ctx)

    def report(self, ctx, z, acc, operands=None):
        guarded = Guarded()
        guarded.fill()
        self.gemm(ctx, z, acc, guarded, operands)
        self.check(self.lib.ozg_report_wait(ctx, ct.byref(guarded)), ctx)
        report = Report.from_buffer(guarded)
        if guarded.written() != ct.sizeof(Report) or report.emulated != 1 or any(report.reserved[1:]):
            sys.exit("this program and the library do not agree on ozg_report")
        return report


class Cublas:
    OPS = {"N": 0, "T": 1, "C": 2}

    def __init__(self, stream):
        self.lib = self.load()
        self.handle = VOID()
        self.check(self.lib.cublasCreate_v2(ct.byref(self.handle)))
        self.check(self.lib.cublasSetStream_v2(self.handle, VOID(stream)))
        version = ct.c_int()
        self.check(self.lib.cublasGetVersion_v2(self.handle, ct.byref(version)))
        self.version = version.value

    def close(self):
        self.check(self.lib.cublasDestroy_v2(self.handle))

    @staticmethod
    def load():
        near = [p for root in sys.path for p in glob.glob(os.path.join(root, "nvidia", "*", "lib", "libcublas.so.*"))]
        for name in [f"libcublas.so.{torch.version.cuda.split('.')[0]}"] + near + ["libcublas.so"]:
            try:
                return ct.CDLL(name)
            except OSError:
                pass
        sys.exit("no libcublas")

    @staticmethod
    def check(status):
        if status:
            sys.exit(f"cuBLAS: status {status}")

    def batch(self, z):
        one, zero = ct.c_double(1), ct.c_double(0)
        self.check(self.lib.cublasDgemmStridedBatched(
            self.handle, self.OPS[z.trans[0]], self.OPS[z.trans[1]], ct.c_int(z.m), ct.c_int(z.n), ct.c_int(z.k),
            ct.byref(one), VOID(z.a.data_ptr()), ct.c_int(z.lda), ct.c_longlong(z.m * z.k), VOID(z.b.data_ptr()),
            ct.c_int(z.ldb), ct.c_longlong(z.k * z.n), ct.byref(zero), VOID(z.c.data_ptr()), ct.c_int(z.m),
            ct.c_longlong(z.m * z.n), ct.c_int(z.count)))

    def gemm(self, z):
        if z.count:
            self.batch(z)
            return
        t = z.type
        one, zero = t.scalar(1), t.scalar(0)
        self.check(getattr(self.lib, f"cublas{t.letter.upper()}gemm_v2")(
            self.handle, self.OPS[z.trans[0]], self.OPS[z.trans[1]], ct.c_int(z.m), ct.c_int(z.n), ct.c_int(z.k),
            ct.byref(one), VOID(z.a.data_ptr()), ct.c_int(z.lda), VOID(z.b.data_ptr()), ct.c_int(z.ldb),
            ct.byref(zero), VOID(z.c.data_ptr()), ct.c_int(z.m)))


# ---- a product ------------------------------------------------------------------------------------------------

def numbers(type_, data, count, generator):
    """count numbers of one type, on the device."""
    name, _, width = data.partition(":")
    out = torch.empty(count * type_.parts, dtype=torch.float32 if type_.single else torch.float64, device="cuda")

    def draw(size):
        if name == "normal":
            return torch.randn(size, dtype=torch.float64, device="cuda", generator=generator)
        return 2 * torch.rand(size, dtype=torch.float64, device="cuda", generator=generator) - 1

    for at in range(0, len(out), 1 << 26):
        size = min(1 << 26, len(out) - at)
        x = draw(size) + draw(size) * 2.0 ** -40
        if name == "wide":
            x *= torch.exp2(-torch.rand(size, dtype=torch.float64, device="cuda", generator=generator) * float(width))
        out[at:at + size] = x.to(out.dtype)
    return out


class Product:
    """C = op(A) op(B), column-major, as flat arrays of real numbers; count > 0: a batch of so many."""

    def __init__(self, type_, trans, m, n, k, data, count=0):
        self.type, self.trans, self.m, self.n, self.k, self.count = type_, trans, m, n, k, count
        all_ = max(1, count)
        generator = torch.Generator(device="cuda")
        generator.manual_seed(m + 3 * n + 5 * k)
        self.lda, self.ldb = (m if trans[0] == "N" else k), (k if trans[1] == "N" else n)
        self.a = numbers(type_, data, all_ * m * k, generator)
        self.b = numbers(type_, data, all_ * k * n, generator)
        self.c = torch.empty(all_ * m * n * type_.parts, dtype=self.a.dtype, device="cuda")
        torch.cuda.synchronize()

    def one(self, q):
        """Product q of a batch, in the same memory."""
        z = copy.copy(self)
        z.a, z.b, z.c = (x[q * size:(q + 1) * size] for x, size in
                         [(self.a, self.m * self.k), (self.b, self.k * self.n), (self.c, self.m * self.n)])
        z.count = 0
        return z

    def looked_at(self):
        """The products that are checked."""
        return [self.one(q) for q in sorted({0, self.count // 2, self.count - 1})] if self.count else [self]

    def flops(self):
        return max(1, self.count) * self.type.flops * self.m * self.n * self.k

    def line(self, x, side, i):
        """Row i of op(A) or column i of op(B): a list of components, each an array of doubles."""
        trans = self.trans[side == "B"]
        ld = self.lda if side == "A" else self.ldb
        along = (trans == "N") == (side == "B")
        parts = self.type.parts
        index = torch.arange(self.k, device="cuda") * (1 if along else ld) + i * (ld if along else 1)
        values = [x[index * parts + q].double().cpu().numpy() for q in range(parts)]
        if trans == "C" and parts == 2:
            values[1] = -values[1]
        return values

    def entry(self, i, j):
        parts = self.type.parts
        return [float(self.c[(i + j * self.m) * parts + q]) for q in range(parts)]


# ---- exact results --------------------------------------------------------------------------------------------

def integers(values):
    """Arrays as lists of integers times 2^e: (lists, e)."""
    exponents = []
    for x in values:
        mantissa, e = np.frexp(x)
        exponents.append((mantissa, e.astype(np.int64) - 53))
    least = min((int(e[m != 0].min()) for m, e in exponents if (m != 0).any()), default=0)
    lists = [[int(y) << max(int(s), 0) for y, s in zip((m * 2.0 ** 53).astype(np.int64), e - least)]
             for m, e in exponents]
    return lists, least


def shifted(x, s):
    """RN_int(x 2^s), ties to even."""
    if s >= 0:
        return x << s
    half, low = 1 << (-s - 1), x & ((1 << -s) - 1)
    x >>= -s
    return x + (low > half or (low == half and x & 1))


def scaled(values, width):
    """RN_int(x 2^D) of a line, D = t - e of its largest component: (lists, -D)."""
    largest = max(float(abs(x).max()) for x in values)
    d = width - math.frexp(largest)[1] if largest else 0
    lists, e = integers(values)
    return [[shifted(x, e + d) for x in one] for one in lists], -d


def dot(x, y):
    return sum(p * q for p, q in zip(x, y))


def products(x, y, sign=-1):
    """Components of the sum of products of two lines of integers; sign +1: of |A||B|."""
    if len(x) == 1:
        return [dot(x[0], y[0])]
    return [dot(x[0], y[0]) + sign * dot(x[1], y[1]), dot(x[0], y[1]) + dot(x[1], y[0])]


def rounded(type_, x, e):
    """RN of x 2^e as a float; an exact zero is +0, other zeros keep their sign."""
    if x == 0:
        return 0.0
    magnitude = abs(x)
    unit = max(magnitude.bit_length() + e - type_.bits, type_.least)
    kept = shifted(magnitude, e - unit)
    if kept.bit_length() + unit > type_.greatest:
        return math.copysign(math.inf, x)
    return math.copysign(math.ldexp(kept, unit), x)


def same(x, y):
    return x == y and math.copysign(1, x) == math.copysign(1, y)


class Oracle:
    """Exact values of entries in 8 rows and 8 columns."""

    def __init__(self, z):
        self.z = z
        step = max(1, z.m // 8), max(1, z.n // 8)
        self.places = [(i, j) for i in range(step[0] // 2, z.m, step[0]) for j in range(step[1] // 2, z.n, step[1])]
        self.rows = {i: z.line(z.a, "A", i) for i in {i for i, _ in self.places}}
        self.columns = {j: z.line(z.b, "B", j) for j in {j for _, j in self.places}}
        rows, columns = ({q: integers(x) for q, x in lines.items()} for lines in (self.rows, self.columns))
        self.exact, self.size = {}, {}
        for i, j in self.places:
            (x, ex), (y, ey) = rows[i], columns[j]
            self.exact[i, j] = products(x, y), ex + ey
            self.size[i, j] = products(*([[abs(v) for v in one] for one in line] for line in (x, y)), sign=1)

    def defined(self, width):
        """The defined results of a width."""
        rows, columns = ({q: scaled(x, width) for q, x in lines.items()} for lines in (self.rows, self.columns))
        return {(i, j): (products(rows[i][0], columns[j][0]), rows[i][1] + columns[j][1]) for i, j in self.places}

    def error(self, i, j, q, c):
        """|c - exact| 2^-low, |A||B| 2^-low and low, of component q of an entry."""
        (c_int,), ec = integers([np.array([c])])
        exact, e = self.exact[i, j]
        low = min(e, ec)
        return abs((exact[q] << (e - low)) - (c_int[0] << (ec - low))), self.size[i, j][q] << (e - low), low

    def look(self, name, lib, report):
        """The present C: worst |error| / (u |A||B|), the share that is correctly rounded, and what is wrong."""
        z, t, wrong, worst, right, count = self.z, self.z.type, [], 0.0, 0, 0
        kind, _, number = name.partition(":")
        width = int(number) if kind == "width" else 0
        if kind == "moduli":
            width = lib.lib.ozg_width_of_moduli(t.letter.encode(), z.k, int(number))
        wanted = self.defined(width) if width else self.exact
        for i, j in self.places:
            for q, c in enumerate(z.entry(i, j)):
                expected = rounded(t, wanted[i, j][0][q], wanted[i, j][1])
                good = math.isfinite(c)
                count += 1
                if good:
                    error, size, low = self.error(i, j, q, c)
                    ratio = min(error << t.bits, size << 200) / size if error and size else error
                    worst = max(worst, ratio)
                    right += same(c, rounded(t, self.exact[i, j][0][q], self.exact[i, j][1]))
                    if kind == "native":
                        good = ratio <= math.isqrt(z.k) + 1
                    elif kind == "accurate":
                        good = error == 0 or math.log2(error) + low <= math.log2(report.bound) + 1e-9
                if kind in ("moduli", "width", "rounded"):
                    good = same(c, expected)
                if not good:
                    wrong.append((i, j, q, c, expected))
        return worst, right / count, wrong


# ---- times ----------------------------------------------------------------------------------------------------

class Clock:
    def __init__(self, stream, samples, seconds):
        self.stream, self.samples, self.seconds = stream, samples, seconds

    def events(self):
        return [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def once(self, call):
        start, end = self.events()
        torch.cuda.synchronize()
        time.sleep(0.1)
        start.record(self.stream)
        call()
        end.record(self.stream)
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def burst(self, calls):
        """Medians of all calls, in turn."""
        times = {name: [] for name in calls}
        for call in calls.values():
            call()
        for _ in range(self.samples):
            for name, call in calls.items():
                times[name].append(self.once(call))
        return {name: statistics.median(t) for name, t in times.items()}

    def sustained(self, call, once):
        """Mean over `seconds` after `seconds` of the same."""
        count = max(2, math.ceil(self.seconds / once))
        start, end = self.events()
        torch.cuda.synchronize()
        time.sleep(0.5)
        for _ in range(count):
            call()
        start.record(self.stream)
        for _ in range(count):
            call()
        end.record(self.stream)
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / count


# ---- a case ---------------------------------------------------------------------------------------------------

def figures(z, seconds, native):
    return {"ms": 1e3 * seconds, "tflops": z.flops() / seconds / 1e12, "ratio": native / seconds}


def run_case(lib, ctx, clock, z, names, prepared):
    cublas = Cublas(clock.stream.cuda_stream)
    calls = {"cublas": lambda: cublas.gemm(z)}
    operands = {name: None for name in names}
    for name in [name for name in names if prepared and not name.startswith("accurate")]:
        operands[f"{name}+{prepared}"] = lib.prepare(ctx, z, lib.accuracy(name), prepared)
    for name, pair in operands.items():
        calls[name] = lambda acc=lib.accuracy(name.partition("+")[0]), pair=pair: lib.gemm(ctx, z, acc, None, pair)
    burst = clock.burst(calls)
    sustained = {name: clock.sustained(call, burst[name]) for name, call in calls.items()}
    again = clock.sustained(calls["cublas"], burst["cublas"])
    spread = abs(again - sustained["cublas"]) / again
    sustained["cublas"] = (sustained["cublas"] + again) / 2
    oracles = [Oracle(one) for one in z.looked_at()]
    case = {"type": z.type.letter, "trans": z.trans, "m": z.m, "n": z.n, "k": z.k, "batch": z.count,
            "cublas_spread": spread, "results": []}
    for name, call in calls.items():
        z.c.fill_(math.nan)
        torch.cuda.synchronize()
        one = {"name": name, "burst": figures(z, burst[name], burst["cublas"]),
               "sustained": figures(z, sustained[name], sustained["cublas"])}
        report = None
        call()
        torch.cuda.synchronize()
        if name != "cublas":
            timed = z.c.clone()
            report = lib.report(ctx, z, lib.accuracy(name.partition("+")[0]), operands[name])
            torch.cuda.synchronize()
            bits = torch.int32 if z.type.single else torch.int64
            one["same"] = bool(torch.equal(timed.view(bits), z.c.view(bits)))
            one["report"] = {"kernel": report.kernel.decode(), "moduli": report.moduli, "width": report.width,
                             "products": report.products, "tested": report.tested, "repaired": report.repaired,
                             "tiles": report.tiles, "k_chunks": report.k_chunks, "bound": report.bound,
                             "workspace_bytes": report.workspace_bytes,
                             "ms": {s: 1e3 * getattr(report, "seconds_" + s) for s in STAGES}}
            del timed
        looks = [oracle.look(name.partition("+")[0], lib, report) for oracle in oracles]
        one["worst"], one["right"] = max(x[0] for x in looks), statistics.mean(x[1] for x in looks)
        wrong = [y for x in looks for y in x[2]]
        one["wrong"] = len(wrong)
        one["first_wrong"] = [str(x) for x in wrong[:2]]
        case["results"].append(one)
    for operand in [x for pair in operands.values() if pair for x in pair]:
        lib.lib.ozg_operand_destroy(operand)
    cublas.close()
    return case


HEAD = (f"{'type op      m      n      k':28} {'what':13}  s  pr  repaired |  burst ms  TFLOP/s ratio | sust. ms  "
        f"TFLOP/s ratio | {'scale/split/product/reconstruct/repair ms':48} | error right check")


def print_case(case):
    where = f"{case['type']:4} {case['trans']} {case['m']:6d} {case['n']:6d} {case['k']:6d}"
    where += f" x {case['batch']}" if case["batch"] else ""
    for one in case["results"]:
        b, s, r = one["burst"], one["sustained"], one.get("report")
        facts = f"{'':16}" if r is None else (
            f"{r['moduli']:2d} {r['products']:3d} "
            f"{100 * r['repaired'] / (case['m'] * case['n'] * max(1, case['batch'])):8.4f}%")
        stages = f"{'cuBLAS before and after: %.1f %% apart' % (100 * case['cublas_spread']):48}" if r is None else (
            f"{'/'.join('%.3f' % r['ms'][q] for q in STAGES[:5]):48}")
        good = one["wrong"] == 0 and one.get("same", True)
        print(f"{where:28} {one['name']:13} {facts} | {b['ms']:9.4f} {b['tflops']:8.2f} {b['ratio']:5.2f} | "
              f"{s['ms']:8.4f} {s['tflops']:8.2f} {s['ratio']:5.2f} | {stages} | {one['worst']:5.2g} "
              f"{100 * one['right']:4.0f}% {'ok' if good else 'WRONG'}", flush=True)
        if not good:
            print("    ", "differs from the timed result" if not one.get("same", True) else "", *one["first_wrong"])


def size_of(text):
    parts = [int(x) for x in text.split("x")]
    return parts * 3 if len(parts) == 1 else parts


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("library")
    p.add_argument("--type", default="d")
    p.add_argument("--sizes", default="1024,2048,4096,8192")
    p.add_argument("--accuracy", default="native,rounded,moduli:15")
    p.add_argument("--trans", default="NN", help="a comma-separated list of NN, NT, TN, ...")
    p.add_argument("--data", default="uniform")
    p.add_argument("--kernel")
    p.add_argument("--batch", type=int, default=0, metavar="COUNT", help="so many products in one call; type d")
    p.add_argument("--prepared", choices=["a", "b", "ab"], help="operands that are prepared")
    p.add_argument("--memory", type=int, default=0, help="bytes of workspace at most")
    p.add_argument("--samples", type=int, default=9)
    p.add_argument("--seconds", type=float, default=0.5)
    p.add_argument("--json")
    return p.parse_args()


def main():
    args = arguments()
    if args.batch and args.type != "d":
        sys.exit("--batch: products of type d only")
    lib = Library(args.library)
    stream = torch.cuda.Stream()
    cublas = Cublas(stream.cuda_stream).version
    clock = Clock(stream, args.samples, args.seconds)
    ctx = lib.context(stream.cuda_stream, args.kernel, args.memory)
    about = {"device": torch.cuda.get_device_name(), "cublas": cublas, "torch": torch.__version__,
             "ozgemm": lib.lib.ozg_version().decode(), "data": args.data}
    print("  ".join(f"{k} {v}" for k, v in about.items()))
    print(HEAD)
    cases = []
    for letter in args.type:
        for trans in args.trans.split(","):
            for m, n, k in map(size_of, args.sizes.split(",")):
                z = Product(Type(letter), trans, m, n, k, args.data, args.batch)
                cases.append(run_case(lib, ctx, clock, z, args.accuracy.split(","), args.prepared))
                print_case(cases[-1])
                if args.json: # after each case: a run that is cut off leaves what it has
                    with open(args.json, "w", encoding="ascii") as f:
                        json.dump({**about, "cases": cases}, f, indent=1)
                del z
                torch.cuda.empty_cache()
    lib.lib.ozg_destroy(ctx)
    sys.exit(any(r["wrong"] or not r.get("same", True) for c in cases for r in c["results"]))


if __name__ == "__main__":
    main()
