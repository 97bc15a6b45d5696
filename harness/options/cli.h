/* cli.h - the command line, for all subcommands: options, messages, exit statuses.
 *
 * Callers: the commands, and the rooms that print for them. argp does the parsing and the help; but
 * a misuse is one line on standard error that names what is valid, and exit status 2.
 */
#ifndef SCHEDLAB_CLI_H
#define SCHEDLAB_CLI_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The exit status of a command: done; or failed or misused, and one line said why. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSED = 2 };

/* The command that runs, with which its messages begin: "schedlab run". cli_parse()
 * sets it to argv[0], and so does cli_read(); before that it is "schedlab". */
const char *cli_name(void);
void cli_name_set(const char *name);

/* "COMMAND: MESSAGE" on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, made one line, then exit(2). */
_Noreturn void cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a file's mistakes, which are one line each already. */
_Noreturn void cli_misuse_lines(const char *lines);

/* Says why the command failed; EXIT_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then exit(1). */
_Noreturn void cli_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Misuse if the folder holds no run; the message begins with what says the folder: "--speed=". */
void cli_check_run(const char *before, const char *folder);

/* Prints json, which it takes, on standard output, indented; digits: of a real number, 0: all. */
void cli_print_json(json_t *json, size_t digits);

/* The place and the kind of an option's value. */
enum cli_kind {
    CLI_OWN,    /* take() takes it */
    CLI_FLAG,   /* bool, without a value */
    CLI_TEXT,   /* const char * */
    CLI_FOLDER, /* const char *, not empty */
    CLI_NAME,   /* const char *, as SWEEP_NAME_RULE has it */
    CLI_ONCE,   /* const char *, a list with commas, given once */
    CLI_LIST,   /* struct cli_list, of an option that may be given again */
    CLI_WORD,   /* int, the index in words */
    CLI_JSON,   /* bool: the word is json, not table */
    CLI_INT,    /* int, least to most */
    CLI_NUMBER, /* int64_t, least to most in units */
    CLI_REAL,   /* double, least to most */
    CLI_TIME,   /* int64_t, ns, up to most; a plain number is in units of least */
    CLI_LIMIT,  /* double, s, up to a day; a plain number is in s */
    CLI_SWEEP,  /* int64_t, in the range of that key of sweep files */
    CLI_MACHINE /* const struct machine_spec *, as cli_machine() has it */
};

/* One option. A command's options end with a row without a name. */
struct cli_option {
    const char *name, *value, *help; /* value: what --help calls it; NULL: it takes none */
    enum cli_kind kind;
    size_t offset; /* in the command's options */
    int letter;    /* a short option too; 0: none */
    double least, most;
    const char *unit; /* in messages; NULL: none */
    const char *key;
    const char *const *words; /* NULL-terminated */
    void (*take)(void *options, char *value);
    bool begins; /* of a new run alone: misuse beside what says which run, such as --resume */
};

/* The kind and offset of an option whose value goes to a field of struct options. */
#define CLI(kind_, field) .kind = CLI_##kind_, .offset = offsetof(struct options, field)

/* Texts as they were given; the array ends with NULL and is NULL if there is none. free() it. */
struct cli_list {
    const char **text;
    size_t count;
};

/* A command's way to read its arguments. The functions may be NULL; options is the last argument of
 * cli_read(). */
struct cli_command {
    const struct cli_option *options;
    const char *arguments, *help;
    /* Where the only argument goes, and what messages call it: "run". NULL: see argument(). */
    const char *only;
    size_t only_offset;
    /* Where all arguments go, up to so many; 0: see `only`. And what misuse begins with of more. */
    size_t list_offset, list_most;
    const char *too_many;
    const char *missing;  /* misuse where there is no argument; NULL: none */
    size_t begins_offset; /* where the name of the last option that `begins` goes */
    /* Fields of a sample's request that are options too: those with the flag, or all if it is 0. */
    bool has_request;
    unsigned request_flag;
    size_t request_offset;
    const char *no_arguments; /* what messages say is valid in their place; NULL: see --help */
    /* NULL: arguments are misuse. */
    void (*argument)(void *options, char *text);
    void (*check)(void *options); /* at the end */
};

void cli_list_add(struct cli_list *list, const char *text);

/* Reads argv[1] and so on into *options. Misuse of an option ends in cli_misuse(). */
void cli_read(const struct cli_command *command, int argc, char **argv, void *options);

/* Like argp_parse(). An unknown option, an option without its value, or one with a value too many
 * ends in cli_misuse(). */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The value of an option: a number as in specifications ("64Ki"), or a time ("200ms", a plain
 * number is in units of plain_ns). min and max inclusive; misuse says the range. */
int64_t cli_number(const char *option, const char *text, int64_t min, int64_t max,
                   const char *unit);
/* The first number of a list with commas; *list is then the rest, or NULL. */
int64_t cli_next_number(const char *option, const char **list, int64_t min, int64_t max);
int64_t cli_time_ns(const char *option, const char *text, int64_t plain_ns, int64_t max_ns);

/* The index of text in words, NULL-terminated; misuse names the nearest one, or all. */
int cli_word(const char *option, const char *text, const char *const *words);

/* Columns of the terminal that the file is, 60 at least. Where it is none, COLUMNS says, if that is
 * a number from 60 to 1000; else `otherwise`. */
int cli_columns_of(FILE *to, int otherwise);

enum { CLI_COLUMNS = 80 }; /* where nobody says more */

/* The same of standard output; CLI_COLUMNS otherwise. */
int cli_columns(void);

/* True if standard output may have colours and bold text, by https://no-color.org. */
bool cli_wants_colour(void);

/* The value of --machine; misuse if it is none. */
struct machine_spec;
struct variant_spec;
const struct machine_spec *cli_machine(const char *text);

/* The path of the sweep file that the user gave: as it is, or of the files that come with the
 * program, "smoke" and "harness/sweeps/smoke.yaml" alike. Misuse if neither is there. Valid
 * until the next call. */
const char *cli_sweep_file(const char *given);

/* Warns where workers have to take turns on so few cores, which is no misuse; see topology.h. */
void cli_warn_of_workers(int workers, int cores, bool pin);

/* Reads the specification of a variant whose events are to be seen; misuse if it is none. A spawn
 * with linked frames (contsteal) is an ordinary call, which leaves no event: it is traced with
 * frames=pooled, as variant->text says then. */
void cli_traced(struct variant_spec *variant, const char *text);

#endif
