/* html_svg.c - taking an SVG file into the page. See html.h.
 *
 * gnuplot writes three times as much as a browser needs: groups around nothing, each attribute
 * again where it is inherited, a group around every text. A page with thirty figures is several
 * megabytes of that. So the file is read tag by tag and written again with what shows:
 *
 * - an element is written when something in it shows, so that empty ones go;
 * - a group keeps only the attributes that differ from what it inherits;
 * - <g A><text>T</text></g> becomes <text A>T</text>;
 * - titles and descriptions go (a browser would show "gnuplot_plot_1" as a hint), and filters,
 *   which no figure uses;
 * - numbers lose digits that are smaller than a dot of any screen.
 *
 * It reads gnuplot's XML, not all XML: no CDATA, no entities of the file's own.
 */
#include "harness/doc/doc.h"
#include "harness/doc/html.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES_MAX = 24, DEPTH_MAX = 32, WIDTH_UNKNOWN = 1000 };

struct slice {
    const char *at;
    size_t length;
};

struct attribute {
    struct slice name, value;
};

struct tag {
    struct slice name;
    struct attribute attributes[ATTRIBUTES_MAX];
    size_t count;
    bool closes;   /* </name> */
    bool is_whole; /* <name/> */
};

enum state {
    PENDING, /* read, and not written unless something follows in it */
    WRITTEN,
    MERGED, /* into its only child */
};

struct element {
    struct tag tag;
    enum state state;
};

struct squeeze {
    FILE *to;
    const char *prefix; /* of ids; needs no escaping */
    struct element open[DEPTH_MAX];
    size_t depth;
};

/* Values that the outermost element sets, and defaults of SVG. */
static const char *const inherited[][2] = {
    {"fill", "none"},         {"stroke", "currentColor"}, {"color", "black"},
    {"stroke-width", "1.00"}, {"stroke-linecap", "butt"}, {"stroke-linejoin", "miter"},
};

static bool is(struct slice slice, const char *text)
{
    return strlen(text) == slice.length && strncmp(slice.at, text, slice.length) == 0;
}

static bool same(struct slice a, struct slice b)
{
    return a.length == b.length && strncmp(a.at, b.at, a.length) == 0;
}

/* Reading ------------------------------------------------------------------------------------- */

static const char *skip_space(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* NAME = "VALUE"; NULL if it is something else. */
static const char *attribute_read(const char *text, struct attribute *attribute)
{
    attribute->name = (struct slice){text, strcspn(text, " \t\r\n=>/")};
    text = skip_space(text + attribute->name.length);
    if (attribute->name.length == 0 || *text++ != '=')
        return NULL;
    text = skip_space(text);
    char quote[2] = {*text, '\0'};
    if (*quote != '"' && *quote != '\'')
        return NULL;
    attribute->value = (struct slice){text + 1, strcspn(text + 1, quote)};
    text += 1 + attribute->value.length;
    return *text == *quote ? text + 1 : NULL;
}

/* The tag at text, which begins with '<'. Where the text goes on; NULL if it is no tag. */
static const char *tag_read(const char *text, struct tag *tag)
{
    tag->count = 0;
    tag->closes = text[1] == '/';
    text += tag->closes ? 2 : 1;
    tag->name = (struct slice){text, strcspn(text, " \t\r\n>/")};
    text = skip_space(text + tag->name.length);
    while (*text && *text != '>' && *text != '/') {
        if (tag->count == ATTRIBUTES_MAX ||
            !(text = attribute_read(text, &tag->attributes[tag->count])))
            return NULL;
        tag->count++;
        text = skip_space(text);
    }
    tag->is_whole = *text == '/';
    text += tag->is_whole;
    return *text == '>' && tag->name.length > 0 ? text + 1 : NULL;
}

/* The text behind the closing tag of the element that has just been opened. */
static const char *skip_element(const char *text, struct slice name)
{
    char closing[64];
    snprintf(closing, sizeof closing, "</%.*s>", (int)name.length, name.at);
    const char *end = strstr(text, closing);
    return end ? end + strlen(closing) : NULL;
}

/* Values --------------------------------------------------------------------------------------- */

/* "rgb( 0, 114, 178)" as "#0072b2"; how much of the text that was, 0 if it is not a color. */
static size_t color_write(FILE *to, const char *text)
{
    unsigned red, green, blue;
    int length = 0;
    char start[32]; /* sscanf() looks for the end of its text first, and that is far */
    if (strncmp(text, "rgb(", 4) != 0)
        return 0;
    snprintf(start, sizeof start, "%.31s", text);
    if (sscanf(start, "rgb(%u ,%u ,%u )%n", &red, &green, &blue, &length) != 3 || length == 0)
        return 0;
    if (red % 17 + green % 17 + blue % 17 == 0)
        fprintf(to, "#%x%x%x", red / 17, green / 17, blue / 17);
    else
        fprintf(to, "#%02x%02x%02x", red, green, blue);
    return (size_t)length;
}

/* A number with at most so many decimals and without zeros at its end. */
static size_t number_write(FILE *to, const char *text, int decimals)
{
    char shown[64];
    char *end;
    snprintf(shown, sizeof shown, "%.*f", decimals, strtod(text, &end));
    if (strchr(shown, '.')) {
        size_t length = strlen(shown);
        while (shown[length - 1] == '0')
            shown[--length] = '\0';
        if (shown[length - 1] == '.')
            shown[length - 1] = '\0';
    }
    fputs(strcmp(shown, "-0") == 0 ? "0" : shown, to);
    return (size_t)(end - text);
}

/* True if a number begins at text. path: letters stand before numbers, as in "M1.5,2". */
static bool is_number(const char *text, const char *start, bool path)
{
    bool begins = text == start || path || !isalnum((unsigned char)text[-1]);
    return begins && isdigit((unsigned char)*text) && strspn(text, "0123456789.") < 32;
}

/* How much of the text at a '#' is a name; 0 if it is a color. */
static size_t reference_length(const struct attribute *attribute, const char *text)
{
    const char *start = attribute->value.at;
    bool in_url = text - start >= 4 && strncmp(text - 4, "url(", 4) == 0;
    if (!in_url && !is(attribute->name, "href") && !is(attribute->name, "xlink:href"))
        return 0;
    return strcspn(text, ")\"' ");
}

/* Verbatim; within an attribute in double quotes. */
static size_t characters_write(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        fputc(text[i] == '"' ? '\'' : text[i], to);
    return length;
}

static void value_write(const struct squeeze *squeeze, const struct attribute *attribute,
                        int decimals)
{
    FILE *to = squeeze->to;
    const char *text = attribute->value.at, *end = text + attribute->value.length;
    if (is(attribute->name, "id"))
        fputs(squeeze->prefix, to);
    while (text < end) {
        size_t space = strspn(text, " \t\r\n"), color = color_write(to, text);
        size_t name = *text == '#' ? reference_length(attribute, text) : 0;
        if (name > 0)
            fprintf(to, "#%s", squeeze->prefix);
        if (color > 0)
            text += color;
        else if (name > 0)
            text += 1 + characters_write(to, text + 1, name - 1);
        else if (space > 0)
            text += space, fputc(' ', to);
        else if (is(attribute->name, "id") || *text == '#')
            text += characters_write(to, text, (size_t)(end - text));
        else if (is_number(text, attribute->value.at, is(attribute->name, "d")))
            text += number_write(to, text, decimals);
        else
            text += characters_write(to, text, 1);
    }
}

/* Elements ------------------------------------------------------------------------------------- */

static const struct attribute *attribute_find(const struct tag *tag, struct slice name)
{
    for (size_t i = 0; i < tag->count; i++)
        if (same(tag->attributes[i].name, name))
            return &tag->attributes[i];
    return NULL;
}

/* True if the group at this depth would have the attribute's value without it. */
static bool is_inherited(const struct squeeze *squeeze, size_t depth,
                         const struct attribute *attribute)
{
    while (depth-- > 0) {
        const struct attribute *outer = attribute_find(&squeeze->open[depth].tag, attribute->name);
        if (outer)
            return same(outer->value, attribute->value);
    }
    for (size_t i = 0; i < sizeof inherited / sizeof inherited[0]; i++)
        if (is(attribute->name, inherited[i][0]))
            return is(attribute->value, inherited[i][1]);
    return false;
}

static bool in_definitions(const struct squeeze *squeeze)
{
    for (size_t i = 0; i < squeeze->depth; i++)
        if (is(squeeze->open[i].tag.name, "defs"))
            return true;
    return false;
}

/* True for attributes that the page's style sets or that nothing refers to. */
static bool is_needless(const struct squeeze *squeeze, const struct tag *tag, size_t depth,
                        const struct attribute *attribute, bool text)
{
    if (is(attribute->name, "font-family") || is(attribute->name, "class"))
        return true;
    if (text)
        return is(attribute->name, "stroke") ||
               (is(attribute->name, "text-anchor") && is(attribute->value, "start"));
    if (!is(tag->name, "g") || in_definitions(squeeze))
        return false;
    return is(attribute->name, "id") ? strncmp(attribute->value.at, "gnuplot_", 8) == 0
                                     : is_inherited(squeeze, depth, attribute);
}

/* "translate(X,Y)" of a text as its x and y. */
static bool place_write(FILE *to, const struct attribute *attribute)
{
    static const char translate[] = "translate(";
    char value[64] = "", *end, *rest;
    if (!is(attribute->name, "transform") || attribute->value.length >= sizeof value)
        return false;
    memcpy(value, attribute->value.at, attribute->value.length);
    if (strncmp(value, translate, strlen(translate)) != 0)
        return false;
    strtod(value + strlen(translate), &end);
    if (*end != ',')
        return false;
    strtod(end + 1, &rest);
    if (strcmp(rest, ")") != 0)
        return false;
    fputs(" x=\"", to);
    number_write(to, value + strlen(translate), 1);
    fputs("\" y=\"", to);
    number_write(to, end + 1, 1);
    fputc('"', to);
    return true;
}

static void attributes_write(const struct squeeze *squeeze, const struct tag *tag, size_t depth,
                             bool text)
{
    bool exact = in_definitions(squeeze);
    for (size_t i = 0; i < tag->count; i++) {
        const struct attribute *attribute = &tag->attributes[i];
        struct slice name = attribute->name;
        if (is_needless(squeeze, tag, depth, attribute, text) ||
            (text && place_write(squeeze->to, attribute)))
            continue;
        if (is(name, "xlink:href"))
            name = (struct slice){"href", 4};
        fprintf(squeeze->to, " %.*s=\"", (int)name.length, name.at);
        value_write(squeeze, attribute, exact ? 3 : is(name, "d") || is(name, "points") ? 1 : 2);
        fputc('"', squeeze->to);
    }
}

static bool is_set(const struct squeeze *squeeze, const struct tag *tag, size_t depth,
                   const char *name)
{
    struct slice slice = {name, strlen(name)};
    bool set = attribute_find(tag, slice) != NULL;
    while (depth-- > 0)
        set = set || attribute_find(&squeeze->open[depth].tag, slice) != NULL;
    return set;
}

/* A shape that counts on SVG's own defaults must not get those of html_svg(). */
static void defaults_write(const struct squeeze *squeeze, const struct tag *tag, size_t depth)
{
    if (!tag->is_whole || in_definitions(squeeze))
        return;
    if (!is_set(squeeze, tag, depth, "fill"))
        fputs(" fill=\"#000\"", squeeze->to);
    if (!is_set(squeeze, tag, depth, "stroke"))
        fputs(" stroke=\"none\"", squeeze->to);
}

static void tag_write(const struct squeeze *squeeze, const struct tag *tag, size_t depth)
{
    fprintf(squeeze->to, "<%.*s", (int)tag->name.length, tag->name.at);
    attributes_write(squeeze, tag, depth, false);
    defaults_write(squeeze, tag, depth);
    fputs(tag->is_whole ? "/>" : ">", squeeze->to);
}

/* True if nothing else follows this text in the group around it. */
static bool ends_its_group(const char *text)
{
    const char *end = strstr(text, "</text>");
    return end && strncmp(skip_space(end + 7), "</g>", 4) == 0;
}

/* Writes what is open: something in it shows, and goes on at `text`. */
static void show(struct squeeze *squeeze, const char *text)
{
    for (size_t i = 0; i < squeeze->depth; i++) {
        struct element *element = &squeeze->open[i], *child = element + 1;
        if (element->state != PENDING)
            continue;
        element->state = WRITTEN;
        if (i + 2 == squeeze->depth && is(element->tag.name, "g") && is(child->tag.name, "text") &&
            child->tag.count == 0 && ends_its_group(text)) {
            element->state = MERGED;
            child->state = WRITTEN;
            fputs("<text", squeeze->to);
            attributes_write(squeeze, &element->tag, i, true);
            fputc('>', squeeze->to);
        } else {
            tag_write(squeeze, &element->tag, i);
        }
    }
}

static void element_close(struct squeeze *squeeze, struct slice name)
{
    if (squeeze->depth > 0 && squeeze->open[--squeeze->depth].state == WRITTEN)
        fprintf(squeeze->to, "</%.*s>", (int)name.length, name.at);
}

/* The tag at text; where the text goes on, NULL if it is not to be understood. */
static const char *tag_take(struct squeeze *squeeze, const char *text)
{
    struct tag tag;
    if (text[1] == '!' || text[1] == '?') {
        const char *end = strchr(text, '>');
        return end ? end + 1 : NULL;
    }
    text = tag_read(text, &tag);
    if (!text || squeeze->depth == DEPTH_MAX)
        return NULL;
    if (tag.closes) {
        element_close(squeeze, tag.name);
    } else if (tag.is_whole) {
        show(squeeze, text);
        tag_write(squeeze, &tag, squeeze->depth);
    } else if (is(tag.name, "title") || is(tag.name, "desc") || is(tag.name, "filter")) {
        return skip_element(text, tag.name);
    } else {
        squeeze->open[squeeze->depth++] = (struct element){tag, PENDING};
    }
    return text;
}

/* Writes the content between <svg> and </svg>. False if it cannot be understood. */
static bool squeeze_write(struct squeeze *squeeze, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, "<"), space = strspn(text, " \t\r\n");
        if (length > space) {
            show(squeeze, text);
            fwrite(text, 1, length, squeeze->to);
        }
        text += length;
        if (*text)
            text = tag_take(squeeze, text);
    }
    return text && squeeze->depth == 0;
}

/* Files ---------------------------------------------------------------------------------------- */

/* Squeezed, in memory of its own; NULL if the text is not to be understood. */
static char *squeezed(const char *text, const char *prefix)
{
    char *result = NULL;
    struct squeeze squeeze = {.to = memory_stream(&result, NULL), .prefix = prefix};
    bool ok = squeeze_write(&squeeze, text);
    if (fclose(squeeze.to) != 0)
        abort();
    if (ok)
        return result;
    free(result);
    return NULL;
}

bool html_svg(FILE *to, const char *path, const char *prefix, const char *label)
{
    struct error unused;
    char *text = file_read(path, NULL, &unused);
    char *start = text ? strstr(text, "<svg") : NULL;
    char *box = start ? strstr(start, "viewBox=\"") : NULL;
    char *body = start ? strchr(start, '>') : NULL;
    char *end = body ? strstr(body, "</svg>") : NULL;
    char *inside = NULL;
    if (end && box && box < body) {
        *end = '\0';
        inside = squeezed(body + 1, prefix);
    }
    if (inside) {
        /* The fixed size of the file is left out, so that the page can make the figure smaller. */
        int width = 0;
        box += strlen("viewBox=\"");
        box[strcspn(box, "\"")] = '\0';
        sscanf(box, "%*d %*d %d", &width);
        html_put(
            to,
            "<svg viewBox='%s' style='max-width:%dpx' role='img' aria-label='%s' "
            "xmlns='http://www.w3.org/2000/svg' fill='none' stroke='currentColor' color='black'>",
            box, width > 0 ? width : WIDTH_UNKNOWN, label);
        fprintf(to, "%s</svg>\n", inside);
    }
    free(inside);
    free(text);
    return inside != NULL;
}
