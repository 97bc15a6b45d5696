/* figures_paper.c - see figures.h: figures for papers, and those that LaTeX writes the words of.
 *
 * gnuplot's cairolatex puts the words of a figure into a file for LaTeX as they are, and the path
 * of the drawing as it was given. So a name with an underscore stops LaTeX, and the file is good in
 * one folder of one machine only. It leaves out the size of text: the words would be as large as
 * those of the paper, and run into each other.
 */
#include "harness/answers/figures.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 512 };

char *figures_paper_settings(const struct figures_paper *paper, char *text, size_t size)
{
    snprintf(text, size, "SL_COLUMN=%.3f%s%s%s%s%s", paper->column_mm,
             paper->font ? "; SL_FONT=\"" : "", paper->font ? paper->font : "",
             paper->font ? "\"" : "", paper->grey ? "; SL_COLOURS=\"grey\"" : "",
             paper->latex ? "; SL_LATEX=1" : "");
    return text;
}

char *figures_page_name(const char *name, unsigned page, char *text, size_t size)
{
    if (page == 1)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s-%u", name, page);
    return text;
}

static void page_path(const char *folder, const char *name, unsigned page, const char *ending,
                      char *path)
{
    char of_page[NAME_SIZE];
    snprintf(path, PATH_SIZE, "%.3000s/%s%s", folder,
             figures_page_name(name, page, of_page, sizeof of_page), ending);
}

unsigned figures_pages(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    unsigned pages = 0;
    do
        page_path(folder, name, pages + 1, ".svg", path);
    while (access(path, F_OK) == 0 && ++pages);
    return pages;
}

void figures_pages_remove(const char *folder, const char *name)
{
    static const char *const endings[] = {".svg", ".pdf", ".png", "-latex.tex", "-latex.pdf"};
    char path[PATH_SIZE];
    bool was_there = true;
    for (unsigned page = 2; was_there; page++)
        for (size_t i = sizeof endings / sizeof endings[0]; i-- > 0;) {
            page_path(folder, name, page, endings[i], path);
            was_there = unlink(path) == 0; /* last: the SVG, which each page has */
        }
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
    static const char mark[] = "\\strut{}", begin[] = "\\begingroup\n";
    size_t length = strlen(folder);
    const char *head = strstr(text, begin);
    if (head) {
        head += strlen(begin);
        fprintf(to, "%.*s  \\fontsize{7}{8.4}\\selectfont\n", (int)(head - text), text);
        text = head;
    }
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

static bool page_mend(const char *folder, const char *path, struct error *error)
{
    size_t size;
    char *text = file_read(path, &size, error), *mended = NULL;
    if (!text)
        return false;
    FILE *to = memory_stream(&mended, &size);
    tex_write(to, text, folder);
    memory_stream_close(to);
    bool ok = file_replace(path, mended, size, error);
    free(mended);
    free(text);
    return ok;
}

bool figures_latex_mend(const char *folder, const char *name, struct error *error)
{
    char path[PATH_SIZE];
    unsigned pages = figures_pages(folder, name);
    for (unsigned page = 1; page <= pages; page++) {
        page_path(folder, name, page, "-latex.tex", path);
        if (!page_mend(folder, path, error))
            return false;
    }
    return true;
}
