/* hyperfine.c - see hyperfine.h. */
#include "harness/sample/hyperfine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* A shell, and hyperfine after it, adds this to the number of the signal that ended a process. */
enum { SIGNALLED = 128 };

bool hyperfine_find(char *program, size_t program_size, struct error *error)
{
    if (process_find("hyperfine", program, program_size))
        return true;
    error_print(error, "hyperfine is missing; the Debian package hyperfine has it");
    return false;
}

/* The status that waitpid() would have given for the command. */
static int status_of_exit_code(json_int_t code)
{
    return code > SIGNALLED ? (int)(code - SIGNALLED) : (int)(code << 8);
}

/* Takes hyperfine's own remarks off the end of what the command had to say: " ", and then lines
 * that begin with "  Warning: ". */
static void remarks_cut(struct process_result *result)
{
    static const char remark[] = "  Warning: ", empty[] = " \n";
    char *text = result->messages;
    size_t size = result->messages_size;
    while (size > 0 && text[size - 1] == '\n') {
        size_t start = size - 1;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        bool is_remark = strncmp(text + start, remark, sizeof remark - 1) == 0;
        if (!is_remark && (size == result->messages_size || strncmp(text + start, empty, 2) != 0))
            break;
        size = start;
    }
    result->messages_size = size;
    text[size] = '\0';
}

/* Seconds to whole nanoseconds. */
static double ns_of(const json_t *seconds)
{
    return round(json_number_value(seconds) * 1e9);
}

/* The times that hyperfine measured, or NULL. */
static json_t *outside_read(const char *json_path, struct process_result *result)
{
    json_t *file = json_load_file(json_path, 0, NULL);
    const json_t *run = json_array_get(json_object_get(file, "results"), 0);
    const json_t *wall = json_array_get(json_object_get(run, "times"), 0);
    const json_t *user = json_object_get(run, "user"), *system = json_object_get(run, "system");
    const json_t *code = json_array_get(json_object_get(run, "exit_codes"), 0);
    json_t *outside = NULL;
    if (json_is_number(wall) && json_is_number(user) && json_is_number(system))
        outside = json_pack("{sf sf sf}", "wall_ns", ns_of(wall), "user_ns", ns_of(user),
                            "system_ns", ns_of(system));
    if (json_is_integer(code))
        result->status = status_of_exit_code(json_integer_value(code));
    json_decref(file);
    return outside;
}

int hyperfine_run(const char *program, const char *command, const char *json_path, double timeout_s,
                  struct process_result *result, json_t **outside)
{
    /* Output inherited: what the command prints goes where process_run() reads it. */
    const char *const argv[] = {"hyperfine",
                                "-N",
                                "--runs",
                                "1",
                                "--style",
                                "none",
                                "--output",
                                "inherit",
                                "--ignore-failure",
                                "--export-json",
                                json_path,
                                "--",
                                command,
                                NULL};
    remove(json_path); /* of a sample whose record was lost */
    *outside = NULL;
    int error = process_run(program, argv, timeout_s, result);
    if (error || result->end != PROCESS_ENDED || !WIFEXITED(result->status) ||
        WEXITSTATUS(result->status) != 0) {
        remove(json_path); /* it is made before the command starts */
        return error;
    }
    remarks_cut(result);
    *outside = outside_read(json_path, result);
    return 0;
}
