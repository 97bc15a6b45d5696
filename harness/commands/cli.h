/* cli.h - parsing of options, for all subcommands.
 *
 * Callers: main.c and cmd_*.c. argp does the parsing and the help; but a misuse is one line
 * on standard error that names what is valid, and exit status 2.
 */
#ifndef SCHEDLAB_CLI_H
#define SCHEDLAB_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "COMMAND: MESSAGE" on standard error, made one line, then exit(2). command is argv[0]: "schedlab
 * run". */
_Noreturn void cli_misuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a file's mistakes, which are one line each already. */
_Noreturn void cli_misuse_lines(const char *command, const char *lines);

/* Like argp_parse(). An unknown option, an option without its value, or one with a value too many
 * ends in cli_misuse(). */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The value of an option: a number as in specifications ("64Ki"), or a time ("200ms", a plain
 * number is in units of plain_ns). min and max inclusive; misuse says the range. */
int64_t cli_number(const char *command, const char *option, const char *text, int64_t min,
                   int64_t max, const char *unit);
/* The first number of a list with commas; *list is then the rest, or NULL. */
int64_t cli_next_number(const char *command, const char *option, const char **list, int64_t min,
                        int64_t max);
int64_t cli_time_ns(const char *command, const char *option, const char *text, int64_t plain_ns,
                    int64_t max_ns);

/* The same for a number with decimals, such as 0.05. */
double cli_real(const char *command, const char *option, const char *text, double min, double max);

/* text, of an option that takes a list with commas and is given once. before: its value so far;
 * NULL: not given yet, else misuse. */
const char *cli_once(const char *command, const char *option, const char *before, const char *text);

/* The index of text in words, NULL-terminated; misuse names the nearest one, or all. */
int cli_word(const char *command, const char *option, const char *text, const char *const *words);

/* The same for an argument without an option's name; kind says what it is. */
int cli_argument_word(const char *command, const char *kind, const char *text,
                      const char *const *words);

/* Columns of the terminal that standard output is, 60 at least; 80 where it is none. */
int cli_columns(void);

/* True if standard output may have colours and bold text, by https://no-color.org. */
bool cli_wants_colour(void);

/* The value of --machine; *machine is what a --machine before this one said, or all zero. The
 * caller's, machine_spec_free(). */
struct machine_spec;
void cli_machine(const char *command, struct machine_spec *machine, const char *text);

/* Adds to a command's rows the options of a sample's request that have that flag; 0: all of them.
 * The rows need room for SAMPLE_FIELDS more. The second function reads such an option. */
struct sample_request;
void cli_sample_options(struct argp_option *rows, unsigned flag);
error_t cli_sample_option(const char *command, struct sample_request *request, int key,
                          const char *arg);

#endif
