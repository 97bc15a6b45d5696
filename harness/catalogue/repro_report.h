/* repro_report.h - the last stage of a reproduction: the reports of its runs, and repro.html.
 *
 * Callers: repro and report, on the main thread. Reads repro.json, environment.json and the runs
 * below the folder, makes report.html with its figures in each of these, and writes repro.html. It
 * can be made again at any time.
 */
#ifndef SCHEDLAB_REPRO_REPORT_H
#define SCHEDLAB_REPRO_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* draw: or keep the reports and figures that are there. `command`, such as "schedlab report",
 * begins what is said on messages. 0; or 1 after one line for each thing that is wrong: where only
 * figures or a run are missing, the page is written nevertheless, and says so. */
int repro_report_make(const char *folder, bool draw, const char *command, FILE *messages);

#endif
