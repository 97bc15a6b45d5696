/* figures_paper.c - see figures.h: figures for papers, and those that LaTeX writes the words of.
 *
 * gnuplot's cairolatex puts the words of a figure into a file for LaTeX as they are, and the path
 * of the drawing as it was given. So a name with an underscore stops LaTeX, and the file is good in
 * one folder of one machine only.
 */
#include "harness/answers/figures.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

char *figures_paper_settings(const struct figures_paper *paper, char *text, size_t size)
{
    snprintf(text, size, "SL_COLUMN=%.3f%s%s%s%s%s", paper->column_mm,
             paper->font ? "; SL_FONT=\"" : "", paper->font ? paper->font : "",
             paper->font ? "\"" : "", paper->grey ? "; SL_COLOURS=\"grey\"" : "",
             paper->latex ? "; SL_LATEX=1" : "");
    return text;
}

/* Signs that LaTeX would not print, and how it does. */
static const struct {
    const char *plain, *latex;
} escapes[] = {
    {"_", "\\_"},           {"%", "\\%"},
    {"&", "\\&"},           {"#", "\\#"},
    {"~", "$\\sim$"},       {"\303\227", "$\\times$"},
    {"\302\265", "$\\mu$"}, {"\342\200\272", "$\\rangle$"},
};

static void words_write(FILE *to, const char *begin, const char *end)
{
    while (begin < end) {
        size_t i = 0, count = sizeof escapes / sizeof escapes[0];
        while (i < count && strncmp(begin, escapes[i].plain, strlen(escapes[i].plain)) != 0)
            i++;
        if (i < count) {
            fputs(escapes[i].latex, to);
            begin += strlen(escapes[i].plain);
        } else {
            fputc(*begin++, to);
        }
    }
}

/* Words stand behind \strut{}, up to the brace that ends their box. */
static void tex_write(FILE *to, const char *text, const char *folder)
{
    static const char mark[] = "\\strut{}";
    size_t length = strlen(folder);
    while (*text) {
        if (strncmp(text, mark, strlen(mark)) == 0) {
            const char *end = strstr(text, "}}%");
            text += strlen(mark);
            fputs(mark, to);
            if (end)
                words_write(to, text, end);
            text = end ? end : text;
        } else if (strncmp(text, folder, length) == 0 && text[length] == '/') {
            text += length + 1;
        } else {
            fputc(*text++, to);
        }
    }
}

bool figures_latex_mend(const char *folder, const char *name, char *error, size_t error_size)
{
    char path[PATH_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/%s-latex.tex", folder, name);
    char *text = file_read(path, &size, error, error_size), *mended = NULL;
    if (!text)
        return false;
    FILE *to = memory_stream(&mended, &size);
    tex_write(to, text, folder);
    if (fclose(to) != 0)
        abort();
    bool ok = file_replace(path, mended, size, error, error_size);
    free(mended);
    free(text);
    return ok;
}
