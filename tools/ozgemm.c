/*
 * ozgemm.c - the command: finds the subcommand and runs it.
 *
 * Exit codes: 0 fine, 1 a check failed, 2 a wrong argument or file, with one line on stderr.
 *
 * SPDX-License-Identifier: MIT
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "ozgemm.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"multiply", cmd_multiply},
    {"accuracy", cmd_accuracy},
    {"speed", cmd_speed},
    {"check", cmd_check},
    {"info", cmd_info},
};

static const char doc[] = "High-precision matrix products on low-precision matrix engines.\n\n"
                          "Commands:\n"
                          "  multiply   the product of two matrices in files (HDF5, .npy, Matrix Market)\n"
                          "  accuracy   errors against the exact product, by family of matrices\n"
                          "  speed      times against the native BLAS, each result checked\n"
                          "  check      self-test of this machine, in seconds\n"
                          "  info       what is available here and what would be used\n"
                          "\v"
                          "Examples:\n"
                          "  ozgemm multiply A.npy B.npy -o C.npy --transa t\n"
                          "  ozgemm accuracy --families uni,phi2 --moduli 14,16,18 -k 1000\n"
                          "  ozgemm speed --sizes 512,1024 --threads 1,2\n\n"
                          "\"ozgemm COMMAND --help\" explains one command; the manual is ozgemm(1).";

static void print_version(FILE *f, struct argp_state *state)
{
    (void)state;
    fprintf(f, "ozgemm %s\n", ozg_version());
}

/* The first word that is no option is the command; the rest belongs to it. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    int *first = state->input;
    (void)arg;
    if (key == ARGP_KEY_INIT)
        quiet_argp(state);
    else if (key == ARGP_KEY_ARG) {
        *first = state->next - 1;
        state->next = state->argc;
    } else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* finish() - a full disk behind stdout is an error too. */
static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("standard output cannot be written: %s", strerror(errno));
    return code;
}

int main(int argc, char **argv)
{
    int first = 0;
    const struct argp argp = {.parser = parse, .args_doc = "COMMAND [OPTION...]", .doc = doc};
    static char name[] = "ozgemm";
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_USAGE;
    if (argc > 0)
        argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &first) != 0)
        return EXIT_USAGE;
    if (first == 0)
        fail("no command: give multiply, accuracy, speed, check or info (ozgemm --help explains them)");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[first], commands[i].name) == 0)
            return finish(commands[i].run(argc - first, argv + first));
    fail("'%s' is no command: give multiply, accuracy, speed, check or info", argv[first]);
}
