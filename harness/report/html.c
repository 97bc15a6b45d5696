/* html.c - see html.h. */
#include "harness/report/html.h"

#include "harness/report/doc.h"

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
