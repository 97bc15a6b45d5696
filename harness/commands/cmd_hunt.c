/* cmd_hunt.c - `schedlab hunt`: wrong schedules. A program of its own looks for them (hunt_main.c),
 * which has the schedulers as instrumented code. */
#include "harness/commands/commands.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

int cmd_hunt(int argc, char **argv)
{
    char path[PATH_SIZE];
    struct error error;
    (void)argc;
    cli_name_set(argv[0]);
    if (!machine_hunt_program(path, sizeof path, &error))
        return cli_fail("%s", error.text);
    fflush(stdout);
    execv(path, argv);
    return cli_fail("cannot execute %s: %s", path, strerror(errno));
}
