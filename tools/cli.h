/*
 * cli.h - what all subcommands share: errors, numbers on the command line, the common options.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_CLI_H
#define OZG_TOOL_CLI_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

#include "ozgemm.h"

/* Exit codes of the command. */
enum { EXIT_FINE = 0, EXIT_CHECK_FAILED = 1, EXIT_USAGE = 2 };

/* fail() - print "ozgemm: ..." as one line on stderr and leave with EXIT_USAGE. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* xmalloc(), xstrdup() - never NULL: fail() with one line when memory is out. */
void *xmalloc(size_t bytes);
char *xstrdup(const char *s);

/* check_status() - fail() with the sentence of the library unless status is OZG_OK. */
void check_status(ozg_status status, const ozg_context *ctx);

/*
 * command_parse() - parse one subcommand's options by its argp.
 *
 * A bad option prints one line and leaves with EXIT_USAGE; --help prints and leaves with 0. name is the
 * subcommand, args the operands in its usage line, doc the text after the options.
 */
void command_parse(const char *name, const struct argp_option *options, argp_parser_t parser,
                   const char *args, const char *doc, int argc, char **argv, void *input);

/*
 * quiet_argp() - for ARGP_KEY_INIT of every parser: getopt says in one line what is wrong, so argp's own line
 * ("Try ... for more information") is left out by taking its stream away.
 */
void quiet_argp(struct argp_state *state);

/* parse_int() - a whole number in lo..hi, else fail() naming what. */
int64_t parse_int(const char *text, const char *what, int64_t lo, int64_t hi);

/* parse_bytes() - a size such as 512M (K, M, G, T: powers of 1024; a bare number counts bytes). */
size_t parse_bytes(const char *text, const char *what);

/* parse_list() - "12,14,16" into v (room for max numbers); returns how many. */
int parse_list(const char *text, const char *what, int64_t lo, int64_t hi, int *v, int max);

/* parse_kernel() - the name of a micro-kernel of this machine, as it is. */
const char *parse_kernel(const char *name, const char *what);

/* parse_backend() - "cpu", "cuda" or "cuda:N" into backend and device; fail() for anything else. */
void parse_backend(const char *text, ozg_config *config);

/* A scalar of a product, kept as double and as float: each is the text rounded once. */
struct scalar {
    double d[2];
    float f[2];
};

/* parse_scalar() - "x" or "x,y" (real and imaginary part). */
struct scalar parse_scalar(const char *text, const char *what);

/* accuracy_parse() - "native", "rounded", "moduli=N", "accurate=N", "width=T" or "bits=B"; NULL: native. */
ozg_accuracy accuracy_parse(const char *text, char type, int64_t k);

/* default_bits() - the bits behind the default accuracy: 53 for d and z, 24 for s and c. */
int default_bits(char type);

/* type_complex(), type_double(), type_size() - about 's', 'd', 'c', 'z'; type_size() in bytes an element. */
int type_complex(char type);
int type_double(char type);
size_t type_size(char type);

/* physical_memory() - bytes of memory in this machine; SIZE_MAX if unknown. */
size_t physical_memory(void);

/* processors() - how many this process may use. */
int processors(void);

/* seconds_now() - a steady clock. */
double seconds_now(void);

/* print_json() - the object, indented, numbers with 17 digits; takes over the reference. */
void print_json(json_t *object);

/* json_number() - a JSON number; null where the value is not finite, as JSON has no word for it. */
json_t *json_number(double x);

/* json_text() - a string; bytes that are no UTF-8 become question marks. */
json_t *json_text(const char *s);

#endif
