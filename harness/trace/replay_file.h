/* replay_file.h - the texts of one file of harness/replays, for its two readers, textbook.c and
 * account.c.
 *
 * Places are keys and indices from the top: "tables/0/title".
 */
#ifndef SCHEDLAB_REPLAY_FILE_H
#define SCHEDLAB_REPLAY_FILE_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct yaml_place;

struct replay_file {
    struct yaml_place *place;
    char path[4096];
    struct error *error;
    bool ok; /* false: a complaint is in error, and nothing more is complained of */
};

/* Opens harness/replays/NAME.yaml, to be closed. False and one line in error if there is none, or
 * it is no YAML. error is used until it is closed. */
bool replay_file_open(struct replay_file *file, const char *name, struct error *error);
void replay_file_close(struct replay_file *file);

/* Says that what stands at the place is wrong: one line with the file and its line in it. */
void replay_file_complain(struct replay_file *file, const char *at, const char *what);

/* A copy of the text at the place, the caller's; NULL if there is none, and a complaint unless it
 * is optional. */
char *replay_file_text(struct replay_file *file, bool optional, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True if something stands at the place. */
bool replay_file_has(const struct replay_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
