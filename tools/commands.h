/*
 * commands.h - the subcommands of ozgemm. Each parses its own arguments (argv[0] is its name) and returns the
 * exit code.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_COMMANDS_H
#define OZG_TOOL_COMMANDS_H

int cmd_multiply(int argc, char **argv);
int cmd_accuracy(int argc, char **argv);
int cmd_speed(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_info(int argc, char **argv);

#endif
