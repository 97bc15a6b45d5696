/* double.h - a program with twice the connections: the same requests, at the same times.
 *
 * Callers: advise.c. A connection is a goroutine that serves requests one after the other, so that
 * one that comes early waits behind the connection's last request. With twice the connections,
 * every other request is served by a goroutine of its own.
 */
#ifndef SCHEDLAB_DOUBLE_H
#define SCHEDLAB_DOUBLE_H

#include "workloads/program.h"

#include <stddef.h>
#include <stdio.h>

/* How many goroutines of the program are connections whose requests come by the clock. 0: none, and
 * why, half a sentence. */
size_t double_connections(const struct program *program, char *why, size_t why_size);

/* Writes the program with twice as many. pre: it has some. */
void double_write(const struct program *program, FILE *to);

#endif
