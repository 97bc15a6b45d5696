/* textbook_page.c - see textbook.h: a table's run in the viewer, which stops after each of its
 * rows. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/trace/textbook.h"

#include <stdlib.h>
#include <string.h>

static const char CONTINUATIONS[] =
    " In the words for a row c(f) is the rest of f, whose goroutine is named f elsewhere.";
static const char CALLS[] = " A function that is called runs in the goroutine of its caller.";

static void cells_add(FILE *to, const struct textbook_table *table,
                      const struct textbook_cell *cells)
{
    for (int i = 0; i < table->processors; i++)
        fprintf(to, "%sT%d %s%s%s%s", i ? "; " : "", i + 1, *cells[i].stack ? cells[i].stack : "-",
                *cells[i].deque ? " [" : "", cells[i].deque, *cells[i].deque ? "]" : "");
}

/* "T1 main*, fib(4) [fib(2)]; T2 fib(3). As in the book." */
static char *row_says(const struct textbook_table *table, size_t i)
{
    const struct textbook_row *row = &table->row[i];
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "Row %zu: ", i + 1);
    cells_add(to, table, row->real);
    if (textbook_row_agrees(table, i)) {
        fputs(". As in the book.", to);
    } else {
        fputs(". The book has ", to);
        cells_add(to, table, row->book);
        fprintf(to, "%s%s%s.", *row->deeds ? ". The run: " : "", row->deeds,
                textbook_row_is_as_meant(table, i) ? ". An erratum of the book" : "");
    }
    memory_stream_close(to);
    return text;
}

/* One stop per event: of two rows that end with the same one, the later. */
static json_t *stops_make(const struct textbook_table *table)
{
    json_t *stops = json_array();
    for (size_t i = 0; i < table->rows; i++) {
        char *says = row_says(table, i);
        bool again = i > 0 && table->row[i].event == table->row[i - 1].event;
        if (again)
            json_array_remove(stops, json_array_size(stops) - 1);
        json_array_append_new(
            stops, json_pack("{sI ss}", "at", (json_int_t)table->row[i].event, "says", says));
        free(says);
    }
    return stops;
}

bool textbook_page_write(const struct textbook *replay, const struct textbook_table *table,
                         const struct sched_trace *trace, FILE *to, struct error *error)
{
    struct trace_page page = {
        .variant = table->variant,
        .workload = table->workload ? table->workload : replay->workload,
        .machine = "sim:desktop8 in lock step",
        .workers = table->processors,
        .seed = table->seed,
        .trace = *trace,
        .names = table->names,
    };
    const struct trace_page *pages[] = {&page};
    char *lead = text_format(
        "%s: %s, %s. T1 is P0%s. A step of the scheduler takes 1 us, and the "
        "code between two steps none. In [brackets] is the deque, head first.%s%s",
        replay->title, table->title, counted((uint64_t)table->processors, "processor").s,
        table->processors > 1 ? ", T2 is P1" : "",
        strcmp(table->steps, "work") == 0 ? CONTINUATIONS : "", table->has_calls ? CALLS : "");
    json_t *stops = stops_make(table);
    page.lead = lead;
    page.stops = stops;
    bool ok = trace_html_write(pages, 1, NULL, to, error);
    json_decref(stops);
    free(lead);
    return ok;
}
