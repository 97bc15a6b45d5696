/* test_yaml_reader.c - each mistake in the keys and kinds of a file is one line with its place, and
 * all of them are told at once; libcyaml takes what the check takes. */
#include "harness/base/yaml_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Schema --------------------------------------------------------------------------------------- */

struct point {
    char *x, *y;
};

struct thing {
    char *name;
    int64_t number;
    int colour;
    uint64_t left; /* of a kind that the check leaves to libcyaml */
    struct point *at, *points;
    unsigned points_count;
    char **few;
    unsigned few_count;
};

static const cyaml_schema_field_t point_fields[] = {
    YAML_TEXT("x", struct point, x),
    YAML_TEXT("y", struct point, y),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t point_schema = YAML_ENTRY(struct point, point_fields);

static const cyaml_strval_t colours[] = {{"red", 1}, {"green", 2}};

static const cyaml_schema_field_t thing_fields[] = {
    YAML_TEXT("name", struct thing, name),
    CYAML_FIELD_INT("number", CYAML_FLAG_OPTIONAL, struct thing, number),
    CYAML_FIELD_ENUM("colour", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct thing, colour,
                     colours, CYAML_ARRAY_LEN(colours)),
    CYAML_FIELD_UINT("left", CYAML_FLAG_OPTIONAL, struct thing, left),
    YAML_MAY_STRUCT("at", struct thing, at, point_fields),
    YAML_MAY_LIST("points", struct thing, points, point_schema),
    CYAML_FIELD_SEQUENCE("few", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct thing, few,
                         &yaml_text, 1, 2),
    CYAML_FIELD_IGNORE("ignored", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t thing_schema = YAML_FILE(struct thing, thing_fields);

static const struct yaml_owner owners[] = {{thing_fields, "a thing"}, {NULL, NULL}};

static bool complain_of_number(const struct yaml_reader *reader, size_t line, const char *key,
                               const char *value)
{
    return yaml_complain(reader, line, "%s is %s", key, value);
}

static const struct yaml_schema schema = {
    .value = &thing_schema, .owners = owners, .where = "here"};
static const struct yaml_schema schema_with_numbers = {&thing_schema, owners, "here",
                                                       complain_of_number};

/* Mistakes ------------------------------------------------------------------------------------- */

/* NULL and the lines in error, or with unknown keys both. */
static struct thing *load(const struct yaml_schema *by, const char *text, struct error *error)
{
    struct yaml_reader reader;
    if (!yaml_reader_open_text(&reader, "f", text, strlen(text), error))
        return NULL;
    struct thing *thing = yaml_reader_load(&reader, by, NULL);
    yaml_reader_close(&reader);
    return thing;
}

static void expect(const struct yaml_schema *by, const char *text, const char *lines)
{
    struct error error;
    struct thing *thing = load(by, text, &error);
    yaml_data_free(&thing_schema, thing, 0);
    if (strcmp(error.text, lines) != 0)
        fail_msg("expected of\n%s\n\"%s\", got \"%s\"", text, lines, error.text);
}

static void each_mistake_is_told_where_it_stands(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line;
    } cases[] = {
        {"name: a\nnumbr: 1\n", "f:2: a thing has no key \"numbr\"; the nearest is \"number\""},
        {"name: a\n'': 1\n", "f:2: a thing has no key \"\"; valid: name, number, colour, left, at, "
                             "points, few, ignored"},
        {"nam: a\n", "f:1: a thing has no key \"nam\"; the nearest is \"name\""},
        {"name: a\nat: {x: 1, y: 2,\n  xx: 3}\n",
         "f:3: at has no key \"xx\"; the nearest is \"x\""},
        {"name: a\n? [b]\n: c\n", "f:2: a key of a thing is no text"},
        {"? [name]\n: a\n", "f:1: a key of a thing is no text"},
        {"number: 1\n", "f:1: a thing lacks the key \"name\""},
        {"{}\n", "f:1: a thing lacks the key \"name\""},
        {"name: a\nat:\n  x: 1\n", "f:3: at lacks the key \"y\""},
        {"name: a\npoints:\n- {x: 1, y: 2}\n- y: 1\n", "f:4: points lacks the key \"x\""},
        {"name: a\nname: b\n", "f:2: name is given twice"},
        {"name: a\nat: {x: 1, y: 1,\n  x: 1}\n", "f:3: x is given twice"},
        {"name: a\nfew: b\n", "f:2: few must be a list, as in [a, b]"},
        {"name: a\nat: b\n", "f:2: at must have keys, as in {x: ...}"},
        {"name: a\npoints: [b]\n", "f:2: points must have keys, as in {x: ...}"},
        {"- a\n", "f:1: the file must have keys, as in {name: ...}"},
        {"name: [a]\n", "f:1: name must be a single value"},
        {"name: a\nnumber: {a: b}\n", "f:2: number must be a single value"},
        {"name: a\ncolour: [red]\n", "f:2: colour must be a single value"},
        {"name: a\nfew: [b,\n  [c]]\n", "f:3: few must be a single value"},
        {"name: a\nnumber: b\n", "f:2: number must be a whole number"},
        {"name: a\nnumber: 9223372036854775808\n", "f:2: number must be a whole number"},
        {"name: a\nnumber: -9223372036854775809\n", "f:2: number must be a whole number"},
        {"name: a\nnumber:\n", "f:2: number must be a whole number"},
        {"name: a\ncolour: gren\n", "f:2: colour is \"gren\"; the nearest is \"green\""},
        {"name: a\ncolour: Red\n", "f:2: colour is \"Red\"; the nearest is \"red\""},
        {"name: a\ncolour:\n", "f:2: colour is \"\"; valid: red, green"},
        {"name: ''\n", "f:1: name is empty"},
        {"name: a\nfew: [b,\n  '']\n", "f:3: few is empty"},
        {"name: a\nfew: []\n", "f:2: few is empty"},
        {"name: a\nfew: [b, c, d]\n", "f:2: few has too many entries"},
        {"name: a\nfew: [b, c\n", "f:3: not valid YAML: did not find expected ',' or ']' while "
                                  "parsing a flow sequence from line 2 on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(&schema, cases[i].text, cases[i].line);
    expect(&schema_with_numbers, "name: a\nnumber: b\n", "f:2: number is b");
    expect(&schema_with_numbers, "name: a\nnumber:\n", "f:2: number is empty");
}

static void mistakes_of_all_kinds_are_told_at_once(void **state)
{
    (void)state;
    expect(&schema,
           "number: many\n"
           "few: []\n"
           "at: {x: 1}\n"
           "points:\n"
           "  - {x: 1, z: 2}\n"
           "  - {x: 1, y: [2]}\n"
           "colour: blue\n"
           "few: [a]\n",
           "f:1: number must be a whole number\n"
           "f:2: few is empty\n"
           "f:3: at lacks the key \"y\"\n"
           "f:5: points has no key \"z\"; valid: x, y\n"
           "f:6: y must be a single value\n"
           "f:7: colour is \"blue\"; valid: red, green\n"
           "f:8: few is given twice\n"
           "f:1: a thing lacks the key \"name\"");
}

/* Even below a key that is ignored, since libcyaml refuses them there too. */
static void values_within_themselves_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "name: a\nignored: &v [*v]\n",
        "name: a\nignored: &v {b: [c, {d: *v}]}\n",
        "name: a\nignored: &v {*v : b}\n",
        "name: a\nignored: &v\n- b\n- - *v\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct error error;
        assert_null(load(&schema, texts[i], &error));
        assert_non_null(strstr(error.text, ": an alias stands in the value that it repeats"));
        assert_null(strchr(error.text, '\n'));
    }
}

/* Values --------------------------------------------------------------------------------------- */

static void what_is_right_is_loaded(void **state)
{
    (void)state;
    struct error error;
    struct thing *thing = load(&schema,
                               "name: &n a\nnumber: 0x10\ncolour: green\nat: &p {x: *n, y: b}\n"
                               "points: [*p, {y: c, x: d}]\nfew: [e, f]\nleft: 3\n"
                               "ignored: {any: [thing]}\nignored: twice\n",
                               &error);
    assert_string_equal(error.text, "");
    assert_non_null(thing);
    assert_string_equal(thing->name, "a");
    assert_int_equal(thing->number, 16);
    assert_int_equal(thing->colour, 2);
    assert_int_equal(thing->left, 3);
    assert_string_equal(thing->at->x, "a");
    assert_int_equal(thing->points_count, 2);
    assert_string_equal(thing->points[0].y, "b");
    assert_string_equal(thing->points[1].x, "d");
    assert_int_equal(thing->few_count, 2);
    assert_string_equal(thing->few[1], "f");
    yaml_data_free(&thing_schema, thing, 0);
    expect(&schema, "name: a\nnumber: 9223372036854775807\n", "");
    expect(&schema, "name: a\nnumber: -9223372036854775808\n", "");
    expect(&schema, "name: a\nnumber: 3x\n", ""); /* as libcyaml has it */
    expect(&schema, "name: a\nfew: &v [b]\nignored: [*v, *v]\n", "");
}

static void unknown_keys_alone_leave_the_values(void **state)
{
    (void)state;
    struct error error;
    struct thing *thing =
        load(&schema, "name: a\nnumbr: 1\ncolor: [&x {y: z}, *x]\nnumber: 7\n", &error);
    assert_non_null(thing);
    assert_int_equal(thing->number, 7);
    assert_non_null(strstr(error.text, "f:2: a thing has no key \"numbr\""));
    assert_non_null(strstr(error.text, "\nf:3: a thing has no key \"color\""));
    yaml_data_free(&thing_schema, thing, 0);
    assert_null(load(&schema, "nam: a\n", &error));
    assert_null(load(&schema, "name: a\nnumbr: 1\nfew: []\n", &error));
}

static void what_libcyaml_alone_refuses_is_a_bug_that_is_told(void **state)
{
    (void)state;
    expect(&schema, "name: a\nleft: b\n",
           "f:1: schedlab takes this file and libcyaml does not, a bug: Invalid value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_is_told_where_it_stands),
        cmocka_unit_test(mistakes_of_all_kinds_are_told_at_once),
        cmocka_unit_test(values_within_themselves_are_refused),
        cmocka_unit_test(what_is_right_is_loaded),
        cmocka_unit_test(unknown_keys_alone_leave_the_values),
        cmocka_unit_test(what_libcyaml_alone_refuses_is_a_bug_that_is_told),
    };
    return cmocka_run_group_tests_name("yaml_reader", tests, NULL, NULL);
}
