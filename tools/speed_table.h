/*
 * speed_table.h - the tables of "ozgemm speed --backend cuda", for people.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_SPEED_TABLE_H
#define OZG_TOOL_SPEED_TABLE_H

#include <jansson.h>

/* speed_shape() - "1024", or "8192x8192x256": what a row multiplies. */
json_t *speed_shape(const json_t *row);

/* speed_remarks() - what the notes of the rows of one type mean; the same sentence once. */
void speed_remarks(const json_t *rows);

/* speed_table_cuda() - the times of all rows of one type, then the stages of those that have any. */
void speed_table_cuda(const json_t *rows, char type);

#endif
