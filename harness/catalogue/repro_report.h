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

/* Makes the reports and the page. draw: false keeps the reports and figures that are there. Lines
 * on messages begin with `command`, such as "schedlab report". 0; or 1 after one line for each
 * fault. If only figures or a run are missing, the page is written nevertheless, and says so. */
int repro_report_make(const char *folder, bool draw, const char *command, FILE *messages);

#endif
