/* yaml_place.c - see yaml_place.h. */
#include "harness/base/yaml_place.h"

#include "harness/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { BRACKETS_MAX = 100 };

struct yaml_place {
    yaml_document_t document;
};

/* Encoding errors come without a line, only with an offset. */
static size_t line_at_offset(const char *text, size_t size, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset && i < size; i++)
        line += text[i] == '\n';
    return line;
}

/* A missing part shows only at the end of the file; the context says where it began. */
static void problem_write(const yaml_parser_t *parser, char *problem, size_t problem_size)
{
    const char *what = parser->problem ? parser->problem : "no memory";
    if (parser->context && parser->context_mark.line < parser->problem_mark.line)
        snprintf(problem, problem_size, "not valid YAML: %s %s from line %zu on", what,
                 parser->context, parser->context_mark.line + 1);
    else
        snprintf(problem, problem_size, "not valid YAML: %s", what);
}

/* The next document. False, line and problem if it is not valid. */
static bool document_load(yaml_parser_t *parser, yaml_document_t *document, size_t *line,
                          char *problem, size_t problem_size)
{
    if (yaml_parser_load(parser, document))
        return true;
    problem_write(parser, problem, problem_size);
    *line = parser->problem_mark.line + 1;
    return false;
}

/* False, line and problem if more than one document is there. */
static bool document_is_last(yaml_parser_t *parser, size_t *line, char *problem,
                             size_t problem_size)
{
    yaml_document_t next;
    if (!document_load(parser, &next, line, problem, problem_size))
        return false;
    bool last = yaml_document_get_root_node(&next) == NULL;
    if (!last) {
        *line = next.start_mark.line + 1;
        snprintf(problem, problem_size, "a second YAML document begins here; valid: one a file");
    }
    yaml_document_delete(&next);
    return last;
}

/* For each token libyaml looks at all brackets that are open: 20 s for a hundred thousand of them.
 * Brackets in quotes and comments count too: no real text leaves so many open there either. */
static size_t line_of_too_many_open(const char *text, size_t size)
{
    size_t line = 1, open = 0;
    for (size_t i = 0; i < size && open <= BRACKETS_MAX; i++) {
        line += text[i] == '\n';
        if (text[i] == '[' || text[i] == '{')
            open++;
        else if ((text[i] == ']' || text[i] == '}') && open > 0)
            open--;
    }
    return open > BRACKETS_MAX ? line : 0;
}

/* True if a child of the node is the node itself or around it. Children come later in the document,
 * except by an alias. */
static bool leads_back(const yaml_document_t *document, const yaml_node_t *node, int index)
{
    const yaml_node_t *child = document->nodes.start + index - 1;
    return child <= node && child->end_mark.index > node->start_mark.index;
}

/* The line of the first value with an alias of itself; 0: there is none. Such a tree has no end. */
static size_t line_of_endless(const yaml_document_t *document)
{
    for (const yaml_node_t *node = document->nodes.start; node < document->nodes.top; node++) {
        bool back = false;
        if (node->type == YAML_SEQUENCE_NODE)
            for (const yaml_node_item_t *item = node->data.sequence.items.start;
                 item < node->data.sequence.items.top; item++)
                back = back || leads_back(document, node, *item);
        if (node->type == YAML_MAPPING_NODE)
            for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
                 pair < node->data.mapping.pairs.top; pair++)
                back = back || leads_back(document, node, pair->key) ||
                       leads_back(document, node, pair->value);
        if (back)
            return node->start_mark.line + 1;
    }
    return 0;
}

/* The same of a document that was loaded. */
static bool document_is_right(yaml_parser_t *parser, yaml_document_t *document, size_t *line,
                              char *problem, size_t problem_size)
{
    size_t endless = line_of_endless(document);
    if (endless)
        *line = endless;
    snprintf(problem, problem_size, "%s",
             endless ? "an alias stands in the value that it repeats" : "the file is empty");
    return !endless && yaml_document_get_root_node(document) &&
           document_is_last(parser, line, problem, problem_size);
}

struct yaml_place *yaml_place_open(const char *text, size_t size, size_t *line, char *problem,
                                   size_t problem_size)
{
    if ((*line = line_of_too_many_open(text, size)) > 0) {
        snprintf(problem, problem_size, "more than %d brackets are open here", BRACKETS_MAX);
        return NULL;
    }
    struct yaml_place *place = xmalloc(sizeof *place);
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        memory_die();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    *line = 1;
    bool ok = document_load(&parser, &place->document, line, problem, problem_size);
    if (ok && !document_is_right(&parser, &place->document, line, problem, problem_size)) {
        yaml_document_delete(&place->document);
        ok = false;
    }
    if (parser.error == YAML_READER_ERROR)
        *line = line_at_offset(text, size, parser.problem_offset);
    yaml_parser_delete(&parser);
    if (ok)
        return place;
    free(place);
    return NULL;
}

void yaml_place_close(struct yaml_place *place)
{
    if (!place)
        return;
    yaml_document_delete(&place->document);
    free(place);
}

static yaml_node_t *node_at(const struct yaml_place *place, int index)
{
    return yaml_document_get_node((yaml_document_t *)(size_t)&place->document, index);
}

static bool node_is(const yaml_node_t *node, const char *key, size_t length)
{
    return node->type == YAML_SCALAR_NODE && node->data.scalar.length == length &&
           memcmp(node->data.scalar.value, key, length) == 0;
}

static const yaml_node_t *child_find(const struct yaml_place *place, const yaml_node_t *node,
                                     const char *part, size_t length)
{
    if (node->type == YAML_SEQUENCE_NODE) {
        long index = strtol(part, NULL, 10);
        long count = (long)(node->data.sequence.items.top - node->data.sequence.items.start);
        return index >= 0 && index < count ? node_at(place, node->data.sequence.items.start[index])
                                           : NULL;
    }
    if (node->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++)
        if (node_is(node_at(place, pair->key), part, length))
            return node_at(place, pair->value);
    return NULL;
}

/* The node at path, or the innermost on the way there; *whole says which. */
static const yaml_node_t *node_find(const struct yaml_place *place, const char *path, bool *whole)
{
    const yaml_node_t *node = place->document.nodes.start; /* the root */
    while (*path) {
        size_t length = strcspn(path, "/");
        const yaml_node_t *child = child_find(place, node, path, length);
        if (!child)
            break;
        node = child;
        path += length;
        path += *path == '/';
    }
    *whole = *path == '\0';
    return node;
}

yaml_document_t *yaml_place_document(struct yaml_place *place)
{
    return &place->document;
}

bool yaml_place_exists(const struct yaml_place *place, const char *path)
{
    bool whole;
    node_find(place, path, &whole);
    return whole;
}

const char *yaml_place_text(const struct yaml_place *place, const char *path)
{
    bool whole;
    const yaml_node_t *node = node_find(place, path, &whole);
    return whole && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

const char *yaml_place_key(const struct yaml_place *place, const char *path, size_t index)
{
    bool whole;
    const yaml_node_t *node = node_find(place, path, &whole);
    if (!whole || node->type != YAML_MAPPING_NODE)
        return NULL;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start + index;
    return pair < node->data.mapping.pairs.top
               ? (const char *)node_at(place, pair->key)->data.scalar.value
               : NULL;
}

size_t yaml_place_line(const struct yaml_place *place, const char *path)
{
    bool whole;
    return node_find(place, path, &whole)->start_mark.line + 1;
}
