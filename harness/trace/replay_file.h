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

enum { REPLAY_PLACE = 128 };

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

/* Prints a place; one that is too long is cut, and nothing stands there. */
void replay_place(char place[REPLAY_PLACE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says that what stands at the place is wrong: one line with the file and its line in it. */
void replay_file_complain(struct replay_file *file, const char *at, const char *what);

/* A copy of the text at the place, the caller's; NULL if there is none, and a complaint unless it
 * is optional. */
char *replay_file_text(struct replay_file *file, bool optional, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The number at the place, 1 to most; `otherwise` if there is none, and a complaint if that is
 * 0. */
int replay_file_number(struct replay_file *file, const char *at, int otherwise, int most);

/* A copy of the degree at the place, the caller's: how true it is by Go's source. */
char *replay_file_degree(struct replay_file *file, const char *at);

/* Complains of a key at the place that is none of these, which end with NULL. */
void replay_file_keys(struct replay_file *file, const char *at, const char *const *keys);

/* True if something stands at the place. */
bool replay_file_has(const struct replay_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
