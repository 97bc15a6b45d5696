/* html.c - see html.h. */
#include "harness/doc/html.h"

#include "harness/base/files.h"
#include "harness/doc/doc.h"
#include "harness/host/data_folder.h"

#include <stdlib.h>

void html_th_number(FILE *to, const char *name)
{
    html_put(to, "<th scope='col' class='number'>%s</th>", name);
}

void html_thead(FILE *to, const char *const *names)
{
    html_put(to, "<thead><tr>");
    for (; *names; names++)
        html_put(to,
                 **names == '#' ? "<th scope='col' class='number'>%s</th>"
                                : "<th scope='col'>%s</th>",
                 *names + (**names == '#'));
    html_put(to, "</tr></thead>");
}

void html_table_open(FILE *to, const char *label, const char *class)
{
    /* Focus, so that a keyboard can scroll it. The caption stays in view while a wide table
     * scrolls. */
    html_put(to, "<div class='scroll' role='region' tabindex='0' aria-label='%s'>", label);
    html_put(to, class ? "<table class='%s'>" : "<table>", class);
    html_put(to, "<caption><span>%s</span></caption>", label);
}

void html_table_close(FILE *to)
{
    html_put(to, "</table></div>");
}

void html_table_begin(FILE *to, const char *label, const char *class, const char *const *names)
{
    html_table_open(to, label, class);
    html_thead(to, names);
    html_put(to, "<tbody>");
}

void html_table_end(FILE *to)
{
    html_put(to, "</tbody>");
    html_table_close(to);
}

void html_json(FILE *to, const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(7));
    for (const char *at = text; *at; at++) {
        if (*at == '<')
            fputs("\\u003c", to);
        else
            fputc(*at, to);
    }
    free(text);
}

bool html_viewer_part(FILE *to, const char *name, struct error *error)
{
    char inside[128], path[4096];
    size_t size;
    snprintf(inside, sizeof inside, "harness/viewer/%s", name);
    data_find(inside, path, sizeof path);
    char *text = file_read(path, &size, error);
    if (!text)
        return false;
    fwrite(text, 1, size, to);
    free(text);
    return true;
}
