/*
 * cmd_check.c - "ozgemm check": run the self-test and show what passed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "cli.h"
#include "commands.h"
#include "progress.h"
#include "table.h"

enum { KEY_JSON = 256, KEY_BACKEND };

static const struct argp_option options[] = {
    {"backend", KEY_BACKEND, "NAME", 0, "cpu (default), cuda, or cuda:1 for the second GPU", 0},
    {"json", KEY_JSON, NULL, 0, "print as JSON", 0},
    {0}};

struct command {
    ozg_config config;
    int json;
};

static const char doc[] =
    "Check in seconds that the library gives the right bits on this machine.\v"
    "The exit code is 0 if every check passed, else 1. A check whose libraries were missing when "
    "this command was built is shown as left out.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct command *q = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        quiet_argp(state);
        break;
    case KEY_BACKEND:
        parse_backend(arg, &q->config);
        break;
    case KEY_JSON:
        q->json = 1;
        break;
    case ARGP_KEY_ARG:
        fail("check takes no '%s': leave it out", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* run_one() - add the row of one check; returns whether it failed. */
static int run_one(const ozg_config *on, const struct check *check, int number, json_t *rows)
{
    static const char *const words[] = {"FAIL", "pass", "left out"};
    char name[64];
    struct note note = {""};
    double start = seconds_now();
    snprintf(name, sizeof name, "%s%s%s", check->name, check->each_kernel ? " " : "",
             check->each_kernel ? check_kernel_name(on, number) : "");
    enum outcome outcome = check->run(on, number, &note);
    json_t *row = json_pack("{s:s, s:s}", "check", name, "result", words[outcome]);
    json_object_set_new(row, "seconds", json_number(seconds_now() - start));
    json_object_set_new(row, "detail", json_text(note.text));
    json_array_append_new(rows, row);
    return outcome == FAILED;
}

/* kernels_of() - how many kernels of the backend are checked. */
static int kernels_of(const ozg_config *on)
{
    int n = 0;
    while (check_kernel_name(on, n))
        n++;
    return n;
}

int cmd_check(int argc, char **argv)
{
    static const struct column columns[] = {{"check", "check", NULL},
                                            {"result", "result", NULL},
                                            {"seconds", "time (s)", "%.2f"},
                                            {"detail", "detail", NULL}};
    struct command q = {.json = 0};
    int failed = 0;
    struct progress bar;
    json_t *rows = json_array();
    check_status(ozg_config_init(&q.config), NULL);
    q.config.backend = OZG_BACKEND_CPU;
    command_parse("check", options, parse, "", doc, argc, argv, &q);
    progress_begin(&bar, check_count);
    for (int i = 0; i < check_count; i++) {
        progress_step(&bar, i > 0, checks[i].name);
        int times = checks[i].each_kernel ? kernels_of(&q.config) : 1;
        for (int n = 0; n < times; n++)
            failed += run_one(&q.config, &checks[i], n, rows);
    }
    progress_end(&bar);
    if (q.json)
        print_json(
            json_pack("{s:s, s:b, s:o}", "version", ozg_version(), "passed", failed == 0, "checks", rows));
    else {
        table_print(stdout, columns, sizeof columns / sizeof columns[0], rows);
        json_decref(rows);
        printf("%s\n", failed ? "FAILED: do not trust results on this machine; report the lines above"
                              : "all checks passed");
    }
    return failed ? EXIT_CHECK_FAILED : EXIT_FINE;
}
