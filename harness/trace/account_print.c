/* account_print.c - see account.h: a picture beside its run, what Go itself does, and the list. */
#include "harness/base/json_fields.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/base/wrap.h"
#include "harness/host/data_folder.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/trace/account.h"
#include "harness/trace/textbook.h"

#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 60, COLUMNS = 80 };
static const char TEXTBOOK[] = "fib4";

void account_print_head(const struct account *account, FILE *to)
{
    fprintf(to, "%s\n\n", account->title);
    text_wrap(to, 0, 0, COLUMNS, account->says);
    fprintf(to, "So %s; claims %s (`schedlab repro --explain %.*s`).\n", account->who,
            account->claims, (int)strcspn(account->claims, ","), account->claims);
    fputs("\n=: as the account has it; !: not, and the account's row below\n", to);
}

static void row_add(const struct account_picture *picture, const char *before, char *const *cells,
                    struct term_table *shown)
{
    term_table_row(shown, NULL);
    for (size_t i = 0; i < picture->columns; i++)
        term_table_cell(shown, "%s%s", i == 0 ? before : "", cells[i] ? cells[i] : "?");
}

void account_print_picture(const struct account_picture *picture, FILE *to)
{
    size_t agree = 0;
    struct term_table *shown = term_table_new((struct term_layout){.gap = 2}, NULL);
    for (size_t i = 0; i < picture->columns; i++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s", i == 0 ? "      " : "",
                 picture->head[i] ? picture->head[i] : picture->column[i]);
        term_table_column(shown, head, -4);
    }
    fprintf(to, "\n%s: %s, %s\n\n", picture->title, picture->variant,
            counted((uint64_t)picture->workers, "worker").s);
    for (size_t i = 0; i < picture->rows; i++) {
        char before[32];
        bool same = account_row_agrees(picture, i);
        agree += same;
        snprintf(before, sizeof before, "%3zu %s ", i + 1, same ? "=" : "!");
        row_add(picture, before, picture->row[i].real, shown);
        if (!same)
            row_add(picture, " told ", picture->row[i].told, shown);
    }
    term_table_print(shown, to);
    fprintf(to, "\n%zu of %zu rows are as the account has them.\n", agree, picture->rows);
}

/* Runs a Go program natively, and says what it did. */
static void itself_print(const struct account *account, FILE *to)
{
    struct sample_request request = {
        .variant = "peer:go",
        .workload = account->itself,
        .workers = account->itself_workers,
        .seed = 1,
        .iterations = 1,
        .events = "none",
        .timeout_s = TIMEOUT_S,
        .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
    };
    json_t *record = child_run_sample(&request);
    bool ran = record_is(record, "ok");
    fprintf(to, "Go itself, %s: ", account->itself);
    if (ran && *field_text(record, "order"))
        fprintf(to, "ran %s.\n", field_text(record, "order"));
    else if (ran && !json_object_get(record, "latency"))
        fputs("ran, and its answer is right.\n", to);
    else if (ran)
        fprintf(to, "half within %s, the longest %s.\n",
                text_time(field_number(json_object_get(record, "latency"), "p50_ns")).s,
                text_time(field_number(json_object_get(record, "latency"), "max_ns")).s);
    else
        fprintf(to, "not run: %s.\n", field_text(record, "reason"));
    json_decref(record);
}

void account_print_foot(const struct account *account, FILE *to)
{
    int at = fprintf(to, "\nThe account is %s. ", account->degree) - 1;
    text_wrap(to, at, 0, COLUMNS, account->go);
    if (account->itself)
        itself_print(account, to);
}

/* List ---------------------------------------------------------------------------------------- */

static bool textbook_list(struct term_table *shown, struct error *error)
{
    struct textbook *book = textbook_load(TEXTBOOK, error);
    if (!book)
        return false;
    for (size_t i = 0; i < book->tables; i++) {
        const struct textbook_table *table = &book->table[i];
        term_table_row(shown, TEXTBOOK, table->title, table->degree, NULL);
        term_table_cell(shown, "--replay %s --policy %s --processors %d", TEXTBOOK, table->policy,
                        table->processors);
    }
    textbook_free(book);
    return true;
}

static bool account_list(const char *name, struct term_table *shown, struct error *error)
{
    struct account *account = account_load(name, error);
    if (!account)
        return false;
    term_table_row(shown, name, account->title, account->degree, NULL);
    term_table_cell(shown, "--replay %s", name);
    account_free(account);
    return true;
}

bool account_print_list(FILE *to, struct error *error)
{
    char **names = data_folder_names("replays", error);
    if (!names)
        return false;
    bool ok = true;
    struct term_table *shown = term_table_new(
        (struct term_layout){.gap = 2},
        TERM_COLUMNS({"name", -4}, {"example", -4}, {"degree", -4}, {"schedlab trace ...", -4}));
    for (size_t i = 0; names[i] && ok; i++)
        ok = strcmp(names[i], TEXTBOOK) == 0 ? textbook_list(shown, error)
                                             : account_list(names[i], shown, error);
    data_folder_names_free(names);
    term_table_print(shown, to);
    return ok;
}
