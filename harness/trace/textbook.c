/* textbook.c - see textbook.h: reading the book's rows, and printing them beside the real ones. */
#include "harness/trace/textbook.h"

#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/base/wrap.h"
#include "harness/trace/replay_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char textbook_name[] = "fib4";

/* Reading ------------------------------------------------------------------------------------- */

static void cell_read(struct replay_file *file, char cell[REPLAY_CELL], const char *row,
                      const char *what, int processor)
{
    char *text = replay_file_text(file, false, "%s/%s%d", row, what, processor + 1);
    snprintf(cell, REPLAY_CELL, "%s", text ? text : "");
    free(text);
}

static void row_read(struct replay_file *file, struct textbook_table *table, const char *at)
{
    static const char *const keys[] = {"turns",  "erratum", "stack1", "deque1", "stack2", "deque2",
                                       "stack3", "deque3",  "stack4", "deque4", NULL};
    char erratum[REPLAY_PLACE];
    struct textbook_row *row = &table->row[table->rows++];
    replay_place(erratum, "%s/erratum", at);
    replay_file_keys(file, at, keys);
    replay_file_keys(file, erratum, keys + 2);
    row->turns = replay_file_text(file, false, "%s/turns", at);
    for (int i = 0; i < table->processors && file->ok; i++) {
        cell_read(file, row->book[i].stack, at, "stack", i);
        cell_read(file, row->book[i].deque, at, "deque", i);
        row->meant[i].stack = replay_file_text(file, true, "%s/erratum/stack%d", at, i + 1);
        row->meant[i].deque = replay_file_text(file, true, "%s/erratum/deque%d", at, i + 1);
    }
}

static void table_read(struct replay_file *file, struct textbook_table *table, size_t index)
{
    static const char *const numbers[] = {"steps", "deque", "stalled", "stack", NULL};
    static const char *const keys[] = {"policy", "processors", "title", "claims",   "degree",
                                       "go",     "variant",    "steps", "workload", "seed",
                                       "rows",   "book",       NULL};
    char at[REPLAY_PLACE];
    replay_place(at, "tables/%zu", index);
    replay_file_keys(file, at, keys);
    replay_place(at, "tables/%zu/book", index);
    replay_file_keys(file, at, numbers);
    replay_place(at, "tables/%zu/degree", index);
    table->degree = replay_file_degree(file, at);
    table->claims = replay_file_text(file, false, "tables/%zu/claims", index);
    table->go = replay_file_text(file, false, "tables/%zu/go", index);
    table->policy = replay_file_text(file, false, "tables/%zu/policy", index);
    table->title = replay_file_text(file, false, "tables/%zu/title", index);
    table->variant = replay_file_text(file, false, "tables/%zu/variant", index);
    table->steps = replay_file_text(file, false, "tables/%zu/steps", index);
    table->workload = replay_file_text(file, true, "tables/%zu/workload", index);
    replay_place(at, "tables/%zu/seed", index);
    table->seed = (uint64_t)replay_file_number(file, at, 1, INT_MAX);
    for (int i = 0; i < 4; i++)
        table->book[i] = replay_file_text(file, true, "tables/%zu/book/%s", index, numbers[i]);
    replay_place(at, "tables/%zu/processors", index);
    table->processors = replay_file_number(file, at, 0, REPLAY_PROCESSORS_MAX);
    do {
        replay_place(at, "tables/%zu/rows/%zu", index, table->rows);
        if (table->rows == REPLAY_ROWS_MAX)
            replay_file_complain(file, at, ": a row too many; valid: 64");
        else
            row_read(file, table, at);
    } while (file->ok && replay_file_has(file, "tables/%zu/rows/%zu", index, table->rows));
}

static struct textbook *replay_read(struct replay_file *file)
{
    struct textbook *replay = xcalloc(1, sizeof *replay);
    static const char *const keys[] = {"title", "account", "workload", "n", "tables", NULL};
    replay_file_keys(file, "", keys);
    replay->title = replay_file_text(file, false, "title");
    replay->who = replay_file_text(file, false, "account");
    replay->workload = replay_file_text(file, false, "workload");
    replay->n = replay_file_number(file, "n", 0, 20);
    do {
        array_add(replay->table, replay->tables) = (struct textbook_table){.rows = 0};
        table_read(file, &replay->table[replay->tables - 1], replay->tables - 1);
    } while (file->ok && replay_file_has(file, "tables/%zu", replay->tables));
    return replay;
}

struct textbook *textbook_load(const char *name, struct error *error)
{
    struct replay_file file;
    if (!replay_file_open(&file, name, error))
        return NULL;
    struct textbook *replay = replay_read(&file);
    replay_file_close(&file);
    if (file.ok)
        return replay;
    textbook_free(replay);
    return NULL;
}

void textbook_free(struct textbook *replay)
{
    for (size_t i = 0; i < replay->tables; i++) {
        struct textbook_table *table = &replay->table[i];
        free(table->policy);
        free(table->title);
        free(table->claims);
        free(table->degree);
        free(table->go);
        free(table->variant);
        free(table->steps);
        free(table->workload);
        json_decref(table->names);
        for (int k = 0; k < 4; k++)
            free(table->book[k]);
        for (size_t k = 0; k < table->rows; k++) {
            free(table->row[k].turns);
            for (int m = 0; m < REPLAY_PROCESSORS_MAX; m++) {
                free(table->row[k].meant[m].stack);
                free(table->row[k].meant[m].deque);
            }
        }
    }
    free(replay->table);
    free(replay->title);
    free(replay->who);
    free(replay->workload);
    free(replay);
}

/* Printing ------------------------------------------------------------------------------------ */

bool textbook_is_dealt(const struct textbook_table *table)
{
    return strcmp(table->steps, "dealt") == 0;
}

static bool cell_agrees(const struct textbook_row *row, int i, bool as_meant)
{
    const char *stack = row->meant[i].stack, *deque = row->meant[i].deque;
    return strcmp(as_meant && stack ? stack : row->book[i].stack, row->real[i].stack) == 0 &&
           strcmp(as_meant && deque ? deque : row->book[i].deque, row->real[i].deque) == 0;
}

static bool row_agrees(const struct textbook_table *table, size_t row, bool as_meant)
{
    for (int i = 0; i < table->processors; i++)
        if (!cell_agrees(&table->row[row], i, as_meant))
            return false;
    return true;
}

bool textbook_row_agrees(const struct textbook_table *table, size_t row)
{
    return row_agrees(table, row, false);
}

bool textbook_row_is_as_meant(const struct textbook_table *table, size_t row)
{
    return !row_agrees(table, row, false) && row_agrees(table, row, true);
}

/* before: the number of the row, and how it is beside the book. */
static void cells_add(const struct textbook_table *table, const char *before,
                      const struct textbook_cell *cells, struct term_table *shown)
{
    term_table_row(shown, NULL);
    for (int i = 0; i < table->processors; i++) {
        term_table_cell(shown, "%s%s", i == 0 ? before : "", cells[i].stack);
        term_table_cell(shown, "%s", cells[i].deque);
    }
}

static void statistic_print(const char *what, const char *book, size_t real, const char *remark,
                            FILE *to)
{
    fprintf(to, "  %-32s %4s %5zu%s%s\n", what, book ? book : "-", real, *remark ? "  " : "",
            remark);
}

/* In how many cells of the rows a processor does nothing, by this word. */
static size_t cells_with(const struct textbook_table *table, bool book, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i < table->rows; i++)
        for (int k = 0; k < table->processors; k++) {
            const struct textbook_row *row = &table->row[i];
            count += strcmp(book ? row->book[k].stack : row->real[k].stack, word) == 0;
        }
    return count;
}

static void dealt_statistics_print(const struct textbook_table *table, FILE *to)
{
    static const char *const words[] = {"idle", "blocked"};
    for (int i = 0; i < 2; i++) {
        char what[32], book[24];
        snprintf(what, sizeof what, "rows of a processor %s", words[i]);
        snprintf(book, sizeof book, "%zu", cells_with(table, true, words[i]));
        statistic_print(what, book, cells_with(table, false, words[i]), "", to);
    }
    statistic_print("times a task or main waited", NULL, table->real.parked, "", to);
}

static void statistics_print(const struct textbook_table *table, FILE *to)
{
    const struct textbook_statistics *real = &table->real;
    fprintf(to, "\n  %-32s %4s %5s\n", "", "book", "here");
    statistic_print("steps", table->book[0], real->steps, "", to);
    if (textbook_is_dealt(table)) {
        dealt_statistics_print(table, to);
        return;
    }
    bool is_sum = table->book[1] && (size_t)atoi(table->book[1]) != real->deque &&
                  (size_t)atoi(table->book[1]) == real->deques;
    statistic_print("longest deque of one processor", table->book[1], real->deque,
                    is_sum ? "the book's number is the sum over both" : "", to);
    statistic_print("both deques together, at most", NULL, real->deques, "", to);
    statistic_print("stalled joins", table->book[2], real->stalled, "", to);
    statistic_print("of them for a stolen child", NULL, real->waited, "", to);
    statistic_print("thefts", NULL, real->stolen, "", to);
    statistic_print("deepest stack", table->book[3], real->stack, "", to);
}

/* The turns after which the row is not as printed. */
static void deeds_print(const struct textbook_table *table, FILE *to)
{
    bool any = false;
    for (size_t i = 0; i < table->rows; i++) {
        if (row_agrees(table, i, false) || !*table->row[i].deeds)
            continue;
        fprintf(to, "%s  row %zu: %s\n", any ? "" : "\nWhat the run did there:\n", i + 1,
                table->row[i].deeds);
        any = true;
    }
}

void textbook_table_print(const struct textbook_table *table, int columns, FILE *to)
{
    size_t agree = 0, errata = 0;
    bool dealt = textbook_is_dealt(table);
    struct term_table *shown = term_table_new((struct term_layout){.gap = 2}, NULL);
    for (int i = 0; i < table->processors; i++) {
        char stack[REPLAY_CELL], deque[REPLAY_CELL] = "";
        snprintf(stack, sizeof stack, dealt ? "%sP%d" : "%sT%d stack", i == 0 ? "      " : "",
                 i + 1);
        if (!dealt)
            snprintf(deque, sizeof deque, "T%d deque", i + 1);
        term_table_column(shown, stack, i == 0 ? -14 : -8);
        term_table_column(shown, deque, -8);
    }
    fprintf(to, "%s, %d processor%s: %s%s%s\n\n", table->title, table->processors,
            table->processors == 1 ? "" : "s", table->variant, table->workload ? " " : "",
            table->workload ? table->workload : "");
    for (size_t i = 0; i < table->rows; i++) {
        bool same = textbook_row_agrees(table, i);
        bool erratum = textbook_row_is_as_meant(table, i);
        agree += same;
        errata += erratum;
        char before[32];
        snprintf(before, sizeof before, "%3zu %s ", i + 1, same ? "=" : erratum ? "e" : "!");
        cells_add(table, before, table->row[i].real, shown);
        if (!same)
            cells_add(table, " book ", table->row[i].book, shown);
    }
    term_table_print(shown, to);
    fprintf(to, "\n%zu of %zu rows are as in the book", agree, table->rows);
    if (errata > 0)
        fprintf(to, "; %zu more (e) would be, but for an erratum of the book", errata);
    fputs(".\n", to);
    deeds_print(table, to);
    statistics_print(table, to);
    int at = fprintf(to, "\nThe account is %s; claims %s. ", table->degree, table->claims) - 1;
    text_wrap(to, at, 0, columns, table->go);
}
