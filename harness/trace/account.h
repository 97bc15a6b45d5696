/* account.h - an example of a popular account of Go's scheduler, run as the account tells it: its
 * picture or table, row by row, beside what the scheduler did.
 *
 * An example is data, harness/replays/NAME.yaml:
 *
 *     title: Stealing half             # what it is about
 *     account: a Chinese note          # who tells it; accounts are not named
 *     claims: "2.7, 2.8"               # of harness/experiments/claims.yaml
 *     degree: wrong                    # right, imprecise, outdated or wrong, by Go's source
 *     says: P1 steals ...              # the account, in a sentence or two
 *     go: The global queue ...         # Go's rule, and where it is in the source
 *     itself: order,n=20               # a workload of peer:go that shows it; may be left out
 *     itself_workers: 1
 *     pictures:
 *       - title: When it steals
 *         variant: gmp
 *         workload: replay             # the program harness/replays/NAME.slp; or replay OTHER
 *         workers: 2
 *         names: [G1 sender]           # of goroutines, in place of those of the program
 *         columns: [P0 runs, P0 queue] # what is shown, in the words below
 *         heads: [P1, queue]           # the account's own words for them; may be left out
 *         rows:
 *           - at: "P0 ran G2"          # the row is what is there after the next event that this
 *             cells: [G2, G4 G6]       # regular expression is found in; what the account has
 *
 * Columns, where 0 is any P:
 *
 *     P0 runs              # a goroutine in a call does not run
 *     P0 thread            # that has it
 *     P0 queue             # what is in runnext in brackets, then the ring
 *     P0 holds             # the same without brackets
 *     P0 slice             # since when it lasts, and the request to end it
 *     global               # the global queue
 *     in calls             # with their threads
 *     waiting
 *     have run             # in the order of their first turns, without main
 *     ms                   # since the first row
 *
 * Times agree if they are the account's, rounded to as many decimals. A cell "-" is one of which
 * the account says nothing, and agrees. Only an event says when a row is read, and the run is told
 * nothing else.
 */
#ifndef SCHEDLAB_ACCOUNT_H
#define SCHEDLAB_ACCOUNT_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ACCOUNT_COLUMNS_MAX = 8 };

struct account_row {
    char *at;
    char *told[ACCOUNT_COLUMNS_MAX]; /* cells of the account */
    char *real[ACCOUNT_COLUMNS_MAX]; /* and of the run; NULL: not run, or it never came to this */
};

struct account_picture {
    char *title, *variant, *workload;
    int workers;
    size_t columns, rows, names;
    char *column[ACCOUNT_COLUMNS_MAX], *head[ACCOUNT_COLUMNS_MAX];
    struct account_row *row;
    struct account_name {
        char *ours, *told;
    } * name;
};

struct account {
    char *name, *title, *who, *claims, *degree, *says, *go;
    char *itself; /* NULL: nothing of Go is run */
    int itself_workers;
    size_t pictures;
    struct account_picture *picture;
};

/* Reads harness/replays/NAME.yaml; account_free() frees it. NULL and one line in error if there is
 * none or it is wrong. */
struct account *account_load(const char *name, struct error *error);
void account_free(struct account *account);

/* Runs a picture on a simulated machine and fills in the real cells. Once for each. False and one
 * line in error if the run fails. */
bool account_picture_run(const struct account *account, struct account_picture *picture,
                         struct error *error);

/* True if each cell of the row is the account's. Pre: account_picture_run(). */
bool account_row_agrees(const struct account_picture *picture, size_t row);

/* Runs Go itself; its record as `schedlab run` keeps it, the caller's. NULL: the account has
 * none. */
json_t *account_itself_run(const struct account *account);

/* Prints the pictures beside their runs, and what is true of them, in lines of so many columns.
 * itself: the record. Pre: account_picture_run() of each. account_print.c. */
void account_print(const struct account *account, const json_t *itself, int columns, FILE *to);

/* All of harness/replays, as an array of objects with name, title, source, claims, degree and
 * command; the caller's. NULL and one line in error if a file is wrong. replay_json.c. */
json_t *replay_list_to_json(struct error *error);
void replay_list_print(const json_t *list, int columns, FILE *to);

/* The same as account_print() prints, the caller's. replay_json.c. */
json_t *account_to_json(const struct account *account, const json_t *itself);

#endif
