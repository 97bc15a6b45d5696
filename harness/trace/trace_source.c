/* trace_source.c - see trace.h: the lines of the workload that events come from, for the page. */
#include "harness/base/files.h"
#include "harness/host/data_folder.h"
#include "harness/trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 64 };

/* The text of a file of the sources; NULL if it is not there, as with an installed program. */
static char *source_read(const char *file)
{
    char path[PATH_SIZE];
    struct error error;
    size_t size;
    return data_find(file, path, sizeof path) ? file_read(path, &size, &error) : NULL;
}

/* Where line `number` begins; NULL if there is none. */
static const char *line_find(const char *text, int number)
{
    while (text && --number > 0) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return text;
}

/* The function whose first line that is, up to the brace that ends it. */
static json_t *function_text(const char *text, int first)
{
    const char *begin = line_find(text, first);
    const char *end = begin ? strstr(begin, "\n}") : NULL;
    return end ? json_stringn(begin, (size_t)(end + 2 - begin)) : json_string("");
}

/* The place in the list of the function of a site, put there if it is new. */
static json_int_t function_place(json_t *functions, const struct sched_trace_site *site)
{
    size_t i;
    json_t *known;
    json_array_foreach(functions, i, known)
    {
        if (json_integer_value(json_object_get(known, "first")) == site->first &&
            strcmp(json_string_value(json_object_get(known, "file")), site->file) == 0)
            return (json_int_t)i;
    }
    char *text = source_read(site->file);
    json_array_append_new(functions, json_pack("{ss ss si so}", "name", site->function, "file",
                                               site->file, "first", site->first, "text",
                                               function_text(text, site->first)));
    free(text);
    return (json_int_t)json_array_size(functions) - 1;
}

/* The function that main runs, where no event has a line. */
static void add_run(json_t *functions, const char *workload)
{
    struct sched_trace_site site = {.first = 1};
    char head[2 * NAME_SIZE];
    int length = (int)strcspn(workload, ",");
    snprintf(site.file, sizeof site.file, "workloads/%.*s.c", length, workload);
    snprintf(site.function, sizeof site.function, "%.*s_run", length, workload);
    snprintf(head, sizeof head, " %.*s_run(", length, workload);
    char *text = source_read(site.file);
    const char *at = text;
    while ((at = at ? strstr(at, head) : NULL)) {
        const char *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        if (strncmp(line, "static ", 7) == 0)
            break;
        at++;
    }
    for (const char *c = text; at && c < at; c++)
        site.first += *c == '\n';
    if (at)
        function_place(functions, &site);
    free(text);
}

json_t *trace_source_to_json(const struct trace_page *page)
{
    json_t *functions = json_array(), *sites = json_array();
    for (size_t i = 0; i < page->trace.sites; i++) {
        const struct sched_trace_site *site = &page->trace.site[i];
        json_array_append_new(
            sites, json_pack("[iI]", site->line, site->line ? function_place(functions, site) : 0));
    }
    if (page->trace.sites == 0)
        add_run(functions, page->workload);
    return json_pack("{so so}", "sites", sites, "functions", functions);
}
