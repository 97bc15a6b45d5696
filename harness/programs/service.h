/* service.h - a service in YAML, made into a program file: clients, classes of requests and their
 * steps, tasks that steps start, workers that receive.
 *
 * Callers: cmd_import.c. docs/PROGRAMS.md has the keys.
 */
#ifndef SCHEDLAB_SERVICE_H
#define SCHEDLAB_SERVICE_H

#include "harness/base/error.h"
#include "harness/programs/service_types.h"

#include <stdio.h>

/* NULL, and the mistakes in error, one a line. */
struct service *service_load(const char *path, struct error *error);
void service_free(struct service *service);

/* The program file. */
void service_write(const struct service *service, FILE *to);

#endif
