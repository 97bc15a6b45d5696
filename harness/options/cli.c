/* cli.c - see cli.h. */
#include "harness/options/cli.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/host/data_folder.h"
#include "harness/host/topology.h"
#include "harness/models/machine_spec.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/run_folder.h"
#include "harness/records/sample_request.h"
#include "harness/spec/spec.h"
#include "sched.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WARNING_SIZE = 1024, S_NS = 1000000000 };
static const int64_t DAY_NS = INT64_C(86400) * S_NS;

static const char *name_of_command = "schedlab";

const char *cli_name(void)
{
    return name_of_command;
}

void cli_name_set(const char *name)
{
    name_of_command = name;
}

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args,
                                                      char *(*change)(char *text))
{
    char *message = text_format_list(format, args);
    fprintf(stderr, "%s: %s\n", cli_name(), change ? change(message) : message);
    free(message);
}

void cli_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, NULL);
    va_end(args);
}

int cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, NULL);
    va_end(args);
    return EXIT_FAILED;
}

void cli_give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, NULL);
    va_end(args);
    exit(EXIT_FAILED);
}

void cli_misuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, text_one_line);
    va_end(args);
    exit(EXIT_MISUSED);
}

void cli_misuse_lines(const char *lines)
{
    cli_say("%s", lines);
    exit(EXIT_MISUSED);
}

void cli_check_run(const char *before, const char *folder)
{
    struct error error;
    if (run_folder_is_run(folder))
        return;
    run_folder_explain(folder, &error);
    cli_misuse("%s%s", before, error.text);
}

void cli_print_json(json_t *json, size_t digits)
{
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    putchar('\n');
    json_decref(json);
}

/* Options ------------------------------------------------------------------------------------- */

/* Options that argp adds by itself. */
static const struct argp_option builtin_options[] = {
    {"help", '?', NULL, 0, NULL, 0},
    {"usage", 0x10000, NULL, 0, NULL, 0},
    {"version", 'V', NULL, 0, NULL, 0},
    {0},
};

static bool option_ends(const struct argp_option *option)
{
    return !option->name && !option->key && !option->doc && !option->group;
}

/* exact: the name; otherwise *matches counts the options that it abbreviates. */
static const struct argp_option *option_by_name(const struct argp_option *table, const char *name,
                                                size_t length, int *matches)
{
    const struct argp_option *found = NULL;
    for (const struct argp_option *option = table; !option_ends(option); option++) {
        if (!option->name || strncmp(option->name, name, length) != 0)
            continue;
        if (option->name[length] == '\0') {
            *matches = 1;
            return option;
        }
        found = option;
        ++*matches;
    }
    return found;
}

static const struct argp_option *option_by_key(const struct argp_option *table, int key)
{
    for (const struct argp_option *option = table; !option_ends(option); option++)
        if (option->key == key)
            return option;
    return NULL;
}

static void offer_options(struct suggest *near, const struct argp_option *table)
{
    for (const struct argp_option *option = table; !option_ends(option); option++)
        if (option->name && !(option->flags & OPTION_HIDDEN))
            suggest_offer(near, option->name);
}

static _Noreturn void misuse_unknown(const struct argp *argp, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    struct suggest near = suggest_for(word);
    offer_options(&near, argp->options);
    offer_options(&near, builtin_options);
    cli_misuse("unknown option --%s; %s", word, suggest_text(&near, "--", "--help").s);
}

/* How many arguments after this one belong to it: 0, or 1 that is the value of *which. */
static int check_long_option(const struct argp *argp, const char *name,
                             const struct argp_option **which)
{
    size_t length = strcspn(name, "=");
    int matches = 0, builtin_matches = 0;
    const struct argp_option *option = option_by_name(argp->options, name, length, &matches);
    const struct argp_option *builtin =
        option_by_name(builtin_options, name, length, &builtin_matches);
    if (!option)
        option = builtin;
    if (!option || matches + builtin_matches > 1)
        misuse_unknown(argp, name, length);
    bool has_value = name[length] == '=';
    if (has_value && !option->arg)
        cli_misuse("--%s takes no value, found \"%s\"", option->name, name + length + 1);
    *which = option;
    return !has_value && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

static int check_short_options(const struct argp *argp, const char *letters,
                               const struct argp_option **which)
{
    for (; *letters; letters++) {
        const struct argp_option *option = option_by_key(argp->options, *letters);
        if (!option)
            option = option_by_key(builtin_options, *letters);
        if (!option)
            cli_misuse("unknown option -%c; --help lists them", *letters);
        *which = option;
        if (option->arg)
            return letters[1] == '\0';
    }
    return 0;
}

static void check_options(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const struct argp_option *option = NULL;
        int values = 0;
        if (argv[i][0] == '-' && argv[i][1] == '-')
            values = check_long_option(argp, argv[i] + 2, &option);
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            values = check_short_options(argp, argv[i] + 1, &option);
        if (i + values >= argc)
            cli_misuse("%s has no value; valid: --%s=%s; `%s --help` says more", argv[i],
                       option->name, option->arg, argv[0]);
        i += values;
    }
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    cli_name_set(argv[0]);
    check_options(argp, argc, argv);
    argp_err_exit_status = EXIT_MISUSED;
    argp_parse(argp, argc, argv, 0, NULL, input);
}

/* Values -------------------------------------------------------------------------------------- */

int64_t cli_number(const char *option, const char *text, int64_t min, int64_t max, const char *unit)
{
    struct error error;
    int64_t value;
    if (!option_number(option, text, min, max, unit, &value, &error))
        cli_misuse("%s", error.text);
    return value;
}

int64_t cli_time_ns(const char *option, const char *text, int64_t plain_ns, int64_t max_ns)
{
    struct error error;
    int64_t value;
    if (!option_time(option, text, plain_ns, 0, max_ns, &value, &error))
        cli_misuse("%s", error.text);
    return value;
}

int64_t cli_next_number(const char *option, const char **list, int64_t min, int64_t max)
{
    char first[64];
    size_t length = strcspn(*list, ",");
    snprintf(first, sizeof first, "%.*s", (int)length, *list);
    if (length == 0)
        cli_misuse("--%s lacks a number; valid: %" PRId64 " to %" PRId64
                   ", several with a comma between, as in 1,2",
                   option, min, max);
    int64_t value = cli_number(option, first, min, max, "");
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return value;
}

static double cli_real(const char *option, const char *text, double min, double max)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max))
        cli_misuse("--%s=%s is not valid; valid: %g to %g", option, text, min, max);
    return value;
}

/* before: the value so far; NULL: not given yet. */
static const char *once(const char *option, const char *before, const char *text)
{
    if (before)
        cli_misuse("--%s=%s is given beside --%s=%s; valid: one, with commas between", option, text,
                   option, before);
    return text;
}

int cli_word(const char *option, const char *text, const char *const *words)
{
    struct suggest near = suggest_for(text);
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0)
            return i;
        suggest_offer(&near, words[i]);
    }
    cli_misuse("--%s=%s is not valid; %s", option, text, suggest_text(&near, "", "--help").s);
}

const struct machine_spec *cli_machine(const char *text)
{
    struct error error;
    const struct machine_spec *machine = machine_spec_kept(text, &error);
    if (!machine)
        cli_misuse("--machine=%s: %s", text, error.text);
    return machine;
}

void cli_traced(struct variant_spec *variant, const char *text)
{
    struct error error;
    if (!scheduler_spec_parse(variant, text, &error))
        cli_misuse("%s", error.text);
    if (strcmp(variant->ops->name, "contsteal") != 0)
        return;
    if (strstr(text, "frames=linked"))
        cli_misuse("%s: linked frames leave no event of a spawn; valid: frames=pooled", text);
    if (strstr(text, "frames="))
        return;
    variant_spec_free(variant);
    char *pooled = text_format("%s,frames=pooled", text);
    if (!scheduler_spec_parse(variant, pooled, &error))
        cli_misuse("%s", error.text);
    free(pooled);
}

void cli_warn_of_workers(int workers, int cores, bool pin)
{
    char text[WARNING_SIZE];
    if (topology_is_crowded(workers, cores, pin, text, sizeof text))
        cli_say("warning: %s", text);
}

/* Takes name. */
static bool data_is_there(char *name, char *path, size_t path_size)
{
    bool found = data_find(name, path, path_size);
    free(name);
    return found;
}

const char *cli_sweep_file(const char *given)
{
    static char path[PATH_MAX];
    struct error error;
    if (access(given, F_OK) == 0)
        return given;
    if (*given && (data_is_there(text_format("%s", given), path, sizeof path) ||
                   data_is_there(text_format("harness/sweeps/%s", given), path, sizeof path) ||
                   data_is_there(text_format("harness/sweeps/%s.yaml", given), path, sizeof path)))
        return path;
    char **names = data_folder_names("sweeps", &error);
    struct suggest near = suggest_for(given);
    for (char **at = names; at && *at; at++)
        suggest_offer(&near, *at);
    cli_misuse("cannot read %s: No such file or directory; valid: a path, or a sweep that comes "
               "with schedlab (%s)",
               *given ? given : "\"\"", suggest_text(&near, "", "harness/sweeps").s);
}

int cli_columns_of(FILE *to, int otherwise)
{
    enum { COLUMNS_LEAST = 60, COLUMNS_MOST = 1000 };
    struct winsize size = {0};
    if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &size) < 0) {
        const char *text = getenv("COLUMNS");
        long columns = text ? strtol(text, NULL, 10) : 0;
        return columns >= COLUMNS_LEAST && columns <= COLUMNS_MOST ? (int)columns : otherwise;
    }
    return size.ws_col >= COLUMNS_LEAST ? size.ws_col : COLUMNS_LEAST;
}

int cli_columns(void)
{
    return cli_columns_of(stdout, CLI_COLUMNS);
}

bool cli_wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

/* Tables of options ---------------------------------------------------------------------------- */

/* The keys of the first options without a letter. */
enum { KEY_ROW = 0x100, KEY_FIELD = 0x1000 };

struct reading {
    const struct cli_command *command;
    void *options;
};

static const char **text_at(const struct reading *reading, size_t offset)
{
    return (const char **)((char *)reading->options + offset);
}

static int64_t sweep_number(const struct cli_option *row, const char *text)
{
    const struct param *param = sweep_file_params;
    while (strcmp(param->name, row->key) != 0)
        param++;
    const char *unit = strcmp(param->unit, "1") == 0 ? "" : param->unit;
    return cli_number(row->name, text, param->min, param->max, unit);
}

void cli_list_add(struct cli_list *list, const char *text)
{
    list->text = xrealloc(list->text, (list->count + 2) * sizeof *list->text);
    list->text[list->count++] = text;
    list->text[list->count] = NULL;
}

static void value_take(const struct reading *reading, const struct cli_option *row, char *arg)
{
    static const char *const json_words[] = {"table", "json", NULL};
    void *to = (char *)reading->options + row->offset;
    const char *unit = row->unit ? row->unit : "";
    int64_t least = (int64_t)row->least;
    int64_t most = row->most < 0x1p63 ? (int64_t)row->most : INT64_MAX;
    if (row->kind == CLI_OWN)
        row->take(reading->options, arg);
    else if (row->kind == CLI_FLAG)
        *(bool *)to = true;
    else if (row->kind == CLI_FOLDER && !*arg)
        cli_misuse("--%s is empty; valid: the path of a folder", row->name);
    else if (row->kind == CLI_NAME && !sweep_name_is_valid(arg))
        cli_misuse("--%s=%s is not valid; valid: " SWEEP_NAME_RULE, row->name, arg);
    else if (row->kind == CLI_TEXT || row->kind == CLI_FOLDER || row->kind == CLI_NAME)
        *(const char **)to = arg;
    else if (row->kind == CLI_ONCE)
        *(const char **)to = once(row->name, *(const char **)to, arg);
    else if (row->kind == CLI_LIST)
        cli_list_add(to, arg);
    else if (row->kind == CLI_WORD)
        *(int *)to = cli_word(row->name, arg, row->words);
    else if (row->kind == CLI_JSON)
        *(bool *)to = cli_word(row->name, arg, json_words) == 1;
    else if (row->kind == CLI_INT)
        *(int *)to = (int)cli_number(row->name, arg, least, most, unit);
    else if (row->kind == CLI_NUMBER)
        *(int64_t *)to = cli_number(row->name, arg, least, most, unit);
    else if (row->kind == CLI_REAL)
        *(double *)to = cli_real(row->name, arg, row->least, row->most);
    else if (row->kind == CLI_TIME)
        *(int64_t *)to = cli_time_ns(row->name, arg, least, most);
    else if (row->kind == CLI_LIMIT)
        *(double *)to = (double)cli_time_ns(row->name, arg, S_NS, DAY_NS) / S_NS;
    else if (row->kind == CLI_SWEEP)
        *(int64_t *)to = sweep_number(row, arg);
    else
        *(const struct machine_spec **)to = cli_machine(arg);
}

static void argument_take(const struct reading *reading, char *arg)
{
    if (reading->command->argument) {
        reading->command->argument(reading->options, arg);
        return;
    }
    if (reading->command->list_most > 0) {
        struct cli_list *list = (void *)((char *)reading->options + reading->command->list_offset);
        if (list->count == reading->command->list_most)
            cli_misuse("%s; found \"%s\" too", reading->command->too_many, arg);
        cli_list_add(list, arg);
        return;
    }
    if (reading->command->no_arguments)
        cli_misuse("\"%s\" is no option; valid: %s", arg, reading->command->no_arguments);
    if (!reading->command->only)
        cli_misuse("found \"%s\"; %s takes options only, see --help", arg,
                   strrchr(cli_name(), ' ') + 1);
    const char **to = text_at(reading, reading->command->only_offset);
    if (*to)
        cli_misuse("one %s at a time; found \"%s\" and \"%s\"", reading->command->only, *to, arg);
    *to = arg;
}

static int row_key(const struct cli_option *rows, size_t i)
{
    return rows[i].letter ? rows[i].letter : KEY_ROW + (int)i;
}

static void sample_options(struct argp_option *rows, unsigned flag)
{
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        const struct sample_field *field = &sample_fields[i];
        if ((field->flags & flag) == flag)
            *rows++ = (struct argp_option){
                field->option + 2, field->letter ? field->letter : KEY_FIELD + i,
                field->value,      0,
                field->help,       0};
    }
}

static error_t sample_option(struct sample_request *request, int key, const char *arg)
{
    struct error error;
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        if (key != KEY_FIELD + i && key != sample_fields[i].letter)
            continue;
        if (!sample_field_read(&sample_fields[i], request, arg, &error))
            cli_misuse("%s", error.text);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static error_t row_parse(int key, char *arg, struct argp_state *state)
{
    const struct reading *reading = state->input;
    const struct cli_command *command = reading->command;
    if (key == ARGP_KEY_ARG) {
        argument_take(reading, arg);
        return 0;
    }
    if (key == ARGP_KEY_END && state->arg_num == 0 && command->missing)
        cli_misuse("%s", command->missing);
    if (key == ARGP_KEY_END && command->check)
        command->check(reading->options);
    for (size_t i = 0; command->options[i].name; i++) {
        if (row_key(command->options, i) != key)
            continue;
        if (command->options[i].begins)
            *text_at(reading, command->begins_offset) = command->options[i].name;
        value_take(reading, &command->options[i], arg);
        return 0;
    }
    return command->has_request
               ? sample_option((void *)((char *)reading->options + command->request_offset), key,
                               arg)
               : ARGP_ERR_UNKNOWN;
}

void cli_read(const struct cli_command *command, int argc, char **argv, void *options)
{
    enum { OPTIONS_MAX = 32 };
    struct argp_option rows[OPTIONS_MAX + SAMPLE_FIELDS + 1] = {{0}};
    size_t count = 0;
    for (; command->options[count].name && count < OPTIONS_MAX; count++)
        rows[count] =
            (struct argp_option){command->options[count].name,  row_key(command->options, count),
                                 command->options[count].value, 0,
                                 command->options[count].help,  0};
    if (command->has_request)
        sample_options(rows + count, command->request_flag);
    const struct argp argp = {rows, row_parse, command->arguments, command->help, NULL, NULL, NULL};
    cli_parse(&argp, argc, argv, &(struct reading){command, options});
}
