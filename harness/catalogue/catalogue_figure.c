/* catalogue_figure.c - the figures of a reference reproduction beside the pages. See catalogue.h.
 *
 * A run's figure is an SVG of gnuplot's. html_svg() makes it a third as large for a page. In a file
 * of its own it needs the style that a page has, so it stands within an SVG that has it.
 */
#include "harness/base/json_fields.h"
#include "harness/catalogue/catalogue.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, BOX_SIZE = 64 };

char *catalogue_figure_name(const char *experiment, const char *group, const json_t *place)
{
    const char *folder = field_text(place, "folder");
    const char *machine = strrchr(folder, '@');
    return text_format("%s-%s-%s.svg", experiment, group, machine ? machine + 1 : folder);
}

struct drawing {
    const char *path, *label;
    char box[BOX_SIZE]; /* "0 0 640 250" */
};

static bool box_read(struct drawing *drawing)
{
    struct error error;
    char *text = file_read(drawing->path, NULL, &error);
    const char *box = text ? strstr(text, "viewBox=\"") : NULL;
    size_t length = box ? strcspn(box + strlen("viewBox=\""), "\"") : 0;
    bool ok = length > 0 && length < BOX_SIZE;
    if (ok)
        snprintf(drawing->box, sizeof drawing->box, "%.*s", (int)length,
                 box + strlen("viewBox=\""));
    free(text);
    return ok;
}

static void drawing_write(FILE *to, const void *arg)
{
    const struct drawing *drawing = arg;
    html_put(to, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='%s'>", drawing->box);
    fputs("<style>text{stroke:none;font-family:system-ui,-apple-system,'Segoe UI',Roboto,"
          "'Helvetica Neue',Arial,sans-serif}</style>",
          to);
    html_svg(to, drawing->path, "", drawing->label);
    html_put(to, "</svg>\n");
}

static bool figure_make(const struct catalogue_pages *pages, const char *experiment,
                        const json_t *place, const json_t *part, const char *group,
                        struct error *error)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    struct drawing drawing = {from, field_text(part, "question"), ""};
    if (!repro_file_figure(pages->reference_folder, place, part, group, from, sizeof from) ||
        !box_read(&drawing))
        return true; /* the one that is there, if any, stays */
    char *name = catalogue_figure_name(experiment, group, place);
    snprintf(to, sizeof to, "%s/experiments/%s", pages->folder, name);
    free(name);
    return file_replace_by(to, drawing_write, &drawing, error);
}

static bool part_make(const struct catalogue_pages *pages, const char *experiment,
                      const json_t *place, const json_t *part, struct error *error)
{
    bool ok = true;
    json_t *groups = repro_file_groups(part);
    json_each(group, groups)
        ok = ok && figure_make(pages, experiment, place, part, json_string_value(group), error);
    json_decref(groups);
    return ok;
}

bool catalogue_figures_make(const struct catalogue_pages *pages, struct error *error)
{
    size_t i;
    for (i = 0; i < pages->count; i++) {
        const char *id = pages->experiments[i]->id;
        const json_t *experiment = repro_file_entry(pages->reference, "experiments", id);
        json_each(place, json_object_get(experiment, "machines")) {
            json_each(part, json_object_get(place, "parts")) {
                if (repro_file_is_drawn(part) && !part_make(pages, id, place, part, error))
                    return false;
            }
        }
    }
    return true;
}
