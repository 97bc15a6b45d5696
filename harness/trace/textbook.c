/* textbook.c - see textbook.h: reading the book's rows, and printing them beside the real ones. */
#include "harness/trace/textbook.h"

#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/trace/replay_file.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 128 };

/* Reading ------------------------------------------------------------------------------------- */

static int number_at(struct replay_file *file, const char *at, int most)
{
    char *text = replay_file_text(file, false, "%s", at), what[48];
    int number = text ? atoi(text) : 0;
    free(text);
    snprintf(what, sizeof what, ": expected 1 to %d", most);
    if (number < 1 || number > most)
        replay_file_complain(file, at, what);
    return number;
}

static void cell_read(struct replay_file *file, char cell[REPLAY_CELL], const char *row,
                      const char *what, int processor)
{
    char *text = replay_file_text(file, false, "%s/%s%d", row, what, processor + 1);
    snprintf(cell, REPLAY_CELL, "%s", text ? text : "");
    free(text);
}

static void row_read(struct replay_file *file, struct textbook_table *table, const char *at)
{
    struct textbook_row *row = &table->row[table->rows++];
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
    static const char *const numbers[] = {"steps", "deque", "stalled", "stack"};
    char at[PLACE_SIZE];
    table->policy = replay_file_text(file, false, "tables/%zu/policy", index);
    table->title = replay_file_text(file, false, "tables/%zu/title", index);
    table->degree = replay_file_text(file, false, "tables/%zu/degree", index);
    table->variant = replay_file_text(file, false, "tables/%zu/variant", index);
    table->steps = replay_file_text(file, false, "tables/%zu/steps", index);
    table->workload = replay_file_text(file, true, "tables/%zu/workload", index);
    char *seed = replay_file_text(file, true, "tables/%zu/seed", index);
    table->seed = seed ? (uint64_t)atoll(seed) : 1;
    free(seed);
    for (int i = 0; i < 4; i++)
        table->book[i] = replay_file_text(file, true, "tables/%zu/book/%s", index, numbers[i]);
    snprintf(at, sizeof at, "tables/%zu/processors", index);
    table->processors = number_at(file, at, REPLAY_PROCESSORS_MAX);
    for (size_t i = 0; file->ok && i < REPLAY_ROWS_MAX; i++) {
        snprintf(at, sizeof at, "tables/%zu/rows/%zu", index, i);
        if (!replay_file_has(file, "%s", at))
            break;
        row_read(file, table, at);
    }
}

static struct textbook *replay_read(struct replay_file *file)
{
    struct textbook *replay = xcalloc(1, sizeof *replay);
    replay->title = replay_file_text(file, false, "title");
    replay->workload = replay_file_text(file, false, "workload");
    replay->n = number_at(file, "n", 20);
    for (size_t i = 0; file->ok; i++) {
        if (!replay_file_has(file, "tables/%zu", i))
            break;
        array_add(replay->table, replay->tables) = (struct textbook_table){.rows = 0};
        table_read(file, &replay->table[i], i);
    }
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
        free(table->degree);
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

void textbook_table_print(const struct textbook_table *table, FILE *to)
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
}
