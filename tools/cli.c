/*
 * cli.c - what all subcommands share: errors, numbers on the command line, the common options.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void fail(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *p = line; *p; p++) /* a file name must not break the line */
        if (iscntrl((unsigned char)*p))
            *p = '?';
    fprintf(stderr, "ozgemm: %s\n", line);
    exit(EXIT_USAGE);
}

void *xmalloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (p == NULL)
        fail("no memory for %.3g MB: take smaller matrices or a machine with more memory",
             (double)bytes / 1e6);
    return p;
}

char *xstrdup(const char *s)
{
    char *copy = xmalloc(strlen(s) + 1);
    return strcpy(copy, s);
}

void check_status(ozg_status status, const ozg_context *ctx)
{
    if (status != OZG_OK)
        fail("%s (%s)", ozg_last_error(ctx), ozg_status_name(status));
}

void quiet_argp(struct argp_state *state)
{
    state->err_stream = NULL;
}

void command_parse(const char *name, const struct argp_option *options, argp_parser_t parser,
                   const char *args, const char *doc, int argc, char **argv, void *input)
{
    char program[64];
    struct argp argp = {.options = options, .parser = parser, .args_doc = *args ? args : NULL, .doc = doc};
    snprintf(program, sizeof program, "ozgemm %s", name);
    argv[0] = program;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, input) != 0)
        exit(EXIT_USAGE);
}

int64_t parse_int(const char *text, const char *what, int64_t lo, int64_t hi)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || v < lo || v > hi)
        fail("%s is '%s': give a whole number from %lld to %lld", what, text, (long long)lo, (long long)hi);
    return v;
}

size_t parse_bytes(const char *text, const char *what)
{
    static const char suffix[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    int digits = end != text && isdigit((unsigned char)text[0]);
    size_t bytes = (size_t)v;
    int overflow = errno != 0 || bytes != v;
    const char *s = *end ? strchr(suffix, toupper((unsigned char)*end)) : NULL;
    for (int i = 0; s != NULL && i <= s - suffix; i++)
        overflow |= __builtin_mul_overflow(bytes, (size_t)1024, &bytes);
    if (!digits || overflow || bytes == 0 || (*end && (s == NULL || end[1] != '\0')))
        fail("%s is '%s': give a number of bytes such as 512M or 4G", what, text);
    return bytes;
}

int parse_list(const char *text, const char *what, int64_t lo, int64_t hi, int *v, int max)
{
    int n = 0;
    char *copy = xstrdup(text), *save = NULL;
    for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (n == max)
            fail("%s has more than %d numbers: give fewer", what, max);
        v[n++] = (int)parse_int(item, what, lo, hi);
    }
    if (n == 0)
        fail("%s is empty: give numbers such as 12,14,16", what);
    free(copy);
    return n;
}

const char *parse_kernel(const char *name, const char *what)
{
    char names[256] = "";
    size_t used = 0;
    if (strcmp(name, "cuda-wgmma") == 0 ||
        strcmp(name, "cuda-mma") == 0) /* whether there is a GPU for it, the library knows */
        return name;
    for (int i = 0; ozg_kernel_name(i); i++) {
        if (strcmp(name, ozg_kernel_name(i)) == 0)
            return name;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                     ozg_kernel_name(i));
    }
    fail("%s is '%s': give one that this machine can run: %s", what, name, names);
}

void parse_backend(const char *text, ozg_config *config)
{
    if (strcmp(text, "cpu") == 0)
        config->backend = OZG_BACKEND_CPU;
    else if (strcmp(text, "cuda") == 0 || strncmp(text, "cuda:", 5) == 0) {
        config->backend = OZG_BACKEND_CUDA;
        config->device = text[4] ? (int)parse_int(text + 5, "--backend cuda:N", 0, 1023) : 0;
    } else
        fail("--backend is '%s': give cpu, cuda or cuda:N", text);
}

struct scalar parse_scalar(const char *text, const char *what)
{
    struct scalar s = {{0, 0}, {0, 0}};
    const char *p = text;
    for (int i = 0; i < 2; i++) {
        char *end;
        s.d[i] = strtod(p, &end);
        s.f[i] = strtof(p, NULL); /* from the text, never by way of double */
        if (end != p && *end == '\0')
            return s;
        if (end == p || *end != ',' || i == 1)
            break;
        p = end + 1;
    }
    fail("%s is '%s': give a number such as 1.5, or 1.5,-2 for real and imaginary part", what, text);
}

int default_bits(char type)
{
    return type_double(type) ? 53 : 24;
}

/* for_bits() - the moduli of ozg_moduli_for_bits(), or one line that says why there are none. */
static int for_bits(char type, int64_t k, int bits)
{
    int s = ozg_moduli_for_bits(type, k, bits);
    if (s == 0)
        fail("no %d bits at k = %lld: 49 moduli are not enough; ask for fewer bits", bits, (long long)k);
    return s;
}

/* parse_width() - the t of "width=T", if the moduli are enough for it. */
static int parse_width(const char *text, char type, int64_t k)
{
    int t = (int)parse_int(text, "--accuracy width", 1, 200);
    for_bits(type, k, t);
    return t;
}

ozg_accuracy accuracy_parse(const char *text, char type, int64_t k)
{
    if (text == NULL || strcmp(text, "native") == 0)
        return ozg_native();
    if (strcmp(text, "rounded") == 0)
        return ozg_rounded();
    if (strncmp(text, "moduli=", 7) == 0)
        return ozg_moduli((int)parse_int(text + 7, "--accuracy moduli", 2, 49));
    if (strncmp(text, "accurate=", 9) == 0)
        return ozg_accurate((int)parse_int(text + 9, "--accuracy accurate", 2, 49));
    if (strncmp(text, "width=", 6) == 0)
        return ozg_width(parse_width(text + 6, type, k));
    if (strncmp(text, "bits=", 5) == 0)
        return ozg_moduli(for_bits(type, k, (int)parse_int(text + 5, "--accuracy bits", 1, 200)));
    fail("--accuracy is '%s': give native, rounded, moduli=N, accurate=N, width=T or bits=B", text);
}

int type_complex(char type)
{
    return type == 'c' || type == 'z';
}

int type_double(char type)
{
    return type == 'd' || type == 'z';
}

size_t type_size(char type)
{
    return (type_double(type) ? sizeof(double) : sizeof(float)) * (type_complex(type) ? 2 : 1);
}

size_t physical_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void print_json(json_t *object)
{
    if (object == NULL || json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0)
        fail("cannot write the JSON text: %s", strerror(errno));
    putchar('\n');
    json_decref(object);
}

json_t *json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_text(const char *s)
{
    json_t *text = json_string(s ? s : "");
    if (text)
        return text;
    char *copy = xstrdup(s);
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    text = json_string(copy);
    free(copy);
    return text;
}
