/* account_print.c - see account.h: pictures beside their runs, what Go does, and the list. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/base/wrap.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/trace/account.h"

#include <stdlib.h>
#include <string.h>

static void head_print(const struct account *account, int columns, FILE *to)
{
    char *source =
        text_format("Source: %s; claims %s (`schedlab repro --explain %.*s`).", account->who,
                    account->claims, (int)strcspn(account->claims, ","), account->claims);
    fprintf(to, "%s\n\n", account->title);
    text_wrap(to, 0, 0, columns, account->says);
    text_wrap(to, 0, 0, columns, source);
    fputs("\n=: as the account has it; !: not, and the account's row below\n", to);
    free(source);
}

static void row_add(const struct account_picture *picture, const char *before, char *const *cells,
                    struct term_table *shown)
{
    term_table_row(shown, NULL);
    for (size_t i = 0; i < picture->columns; i++)
        term_table_cell(shown, "%s%s", i == 0 ? before : "", cells[i] ? cells[i] : "?");
}

static void picture_print(const struct account_picture *picture, FILE *to)
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

/* Says what Go itself did, by its record. */
static void itself_print(const char *workload, const json_t *record, int columns, FILE *to)
{
    char *text = NULL;
    FILE *line = memory_stream(&text, NULL);
    const json_t *latency = json_object_get(record, "latency");
    fprintf(line, "Go itself, %s: ", workload);
    if (!record_is(record, "ok"))
        fprintf(line, "not run: %s.", field_text(record, "reason"));
    else if (*field_text(record, "order"))
        fprintf(line, "ran %s.", field_text(record, "order"));
    else if (latency)
        fprintf(line, "half of its latencies are %s or less, and the longest is %s.",
                text_time(field_number(latency, "p50_ns")).s,
                text_time(field_number(latency, "max_ns")).s);
    else
        fputs("ran, and its answer is right.", line);
    memory_stream_close(line);
    text_wrap(to, 0, 0, columns, text);
    free(text);
}

void account_print(const struct account *account, const json_t *itself, int columns, FILE *to)
{
    head_print(account, columns, to);
    for (size_t i = 0; i < account->pictures; i++)
        picture_print(&account->picture[i], to);
    int at = fprintf(to, "\nThe account is %s. ", account->degree) - 1;
    text_wrap(to, at, 0, columns, account->go);
    if (itself)
        itself_print(account->itself, itself, columns, to);
}

void replay_list_print(const json_t *list, int columns, FILE *to)
{
    fprintf(to, "%-14s%-11sexample, and its command\n", "name", "degree");
    json_each(example, list) {
        int at =
            fprintf(to, "%-14s%-11s", field_text(example, "name"), field_text(example, "degree"));
        text_wrap(to, at, at, columns, field_text(example, "title"));
        fprintf(to, "  %s\n", field_text(example, "command"));
    }
}
