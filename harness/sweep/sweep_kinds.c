/* sweep_kinds.c - see sweep_kinds.h. */
#include "harness/sweep/sweep_kinds.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/models/machine_start.h"
#include "harness/records/hosts_used.h"
#include "harness/records/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The set that stands for the comparison of this set, as far as that is known. */
static size_t comparison_root(const struct sweep_kinds *kinds, size_t set)
{
    size_t *comparison = kinds->comparison;
    while (comparison[set] != set) {
        comparison[set] = comparison[comparison[set]];
        set = comparison[set];
    }
    return set;
}

/* Joins the sets of each group, by way of the first one that was seen of it. */
static void comparisons_find(struct sweep_kinds *kinds, const struct plan *plan)
{
    json_t *firsts = json_object(); /* group -> set */
    for (size_t set = 0; set < kinds->sets; set++)
        kinds->comparison[set] = set;
    for (size_t c = 0; c < plan->count; c++) {
        const struct cell *cell = &plan->cells[c];
        json_each(group, cell->groups) {
            const char *name = json_string_value(group);
            const json_t *first = json_object_get(firsts, name);
            if (!first)
                json_object_set_new(firsts, name, json_integer((json_int_t)cell->set));
            else
                kinds->comparison[comparison_root(kinds, cell->set)] =
                    comparison_root(kinds, (size_t)json_integer_value(first));
        }
    }
    json_decref(firsts);
}

/* The place of the processor that the comparison of this cell was measured on. */
static const char **known_of(const struct sweep_kinds *kinds, const struct cell *cell)
{
    return &kinds->known[comparison_root(kinds, cell->set)];
}

void sweep_kinds_begin(struct sweep_kinds *kinds, const struct plan *plan, bool mix)
{
    size_t sets = 0;
    for (size_t i = 0; i < plan->count; i++)
        sets = plan->cells[i].set >= sets ? plan->cells[i].set + 1 : sets;
    *kinds = (struct sweep_kinds){.mix = mix, .sets = sets, .names = json_object()};
    kinds->comparison = xcalloc(sets + 1, sizeof *kinds->comparison);
    kinds->known = xcalloc(sets + 1, sizeof *kinds->known);
    kinds->lacking = xcalloc(sets + 1, sizeof(struct cell *));
    comparisons_find(kinds, plan);
}

void sweep_kinds_end(struct sweep_kinds *kinds)
{
    json_decref(kinds->names);
    free(kinds->comparison);
    free(kinds->known);
    free(kinds->lacking);
}

/* A lasting copy of the processor's name. */
static const char *name_keep(struct sweep_kinds *kinds, const char *cpu)
{
    if (!json_object_get(kinds->names, cpu))
        json_object_set_new(kinds->names, cpu, json_string(cpu));
    return json_string_value(json_object_get(kinds->names, cpu));
}

/* True if samples of the cell may come from that processor. */
static bool kind_fits(const struct sweep_kinds *kinds, const struct cell *cell, const char *cpu)
{
    const char *kind = *known_of(kinds, cell);
    return kinds->mix || machine_text_is_simulated(cell->machine) || !kind || !*cpu ||
           strcmp(kind, cpu) == 0;
}

bool sweep_kinds_note(struct sweep_kinds *kinds, const struct cell *cell, const json_t *record,
                      const char *unnamed, struct error *error)
{
    const char *cpu = field_text(record, "cpu"), **kind = known_of(kinds, cell);
    const char *host = field_text(record, "host");
    if (machine_text_is_simulated(cell->machine))
        return true;
    if (!*cpu && record_is(record, "ok") && strcmp(unnamed, "unknown") != 0)
        cpu = unnamed;
    if (!*kind && *cpu)
        *kind = name_keep(kinds, cpu);
    if (kind_fits(kinds, cell, cpu))
        return true;
    return error_set(
        error,
        "%s on %s with %d worker%s was measured%s%s with the processor \"%s\", and what it is "
        "compared with on \"%s\"; --mix-machines takes both nevertheless",
        cell->variant, cell->workload, cell->workers, cell->workers == 1 ? "" : "s",
        *host ? " on " : "", host, cpu, *kind);
}

bool sweep_kinds_may_measure(struct sweep_kinds *kinds, const struct cell *cell,
                             struct error *error)
{
    json_t *here = json_object();
    hosts_used_mark(here);
    const char *cpu = field_text(here, "cpu");
    bool may = kind_fits(kinds, cell, cpu);
    if (!may)
        error_print(error,
                    "%s on %s with %d worker%s is compared with what was measured on the processor "
                    "\"%s\", and this machine has \"%s\"; --mix-machines measures it here "
                    "nevertheless, --engine on others",
                    cell->variant, cell->workload, cell->workers, cell->workers == 1 ? "" : "s",
                    *known_of(kinds, cell), cpu);
    json_decref(here);
    return may;
}

void sweep_kinds_lack(struct sweep_kinds *kinds, const struct cell *cell)
{
    kinds->lacking[comparison_root(kinds, cell->set)] = cell;
}

/* The processor of all known samples, if there is only one and something is lacking. A second
 * processor would not be wanted then. Else NULL. */
static const char *kind_of_all(const struct sweep_kinds *kinds)
{
    const char *kind = NULL;
    bool lacking = false;
    for (size_t set = 0; set < kinds->sets; set++) {
        const char *known = kinds->known[set];
        lacking |= kinds->lacking[set] != NULL;
        if (kind && known && strcmp(kind, known) != 0)
            return NULL;
        kind = known ? known : kind;
    }
    return lacking && !kinds->mix ? kind : NULL;
}

bool sweep_kinds_foresee(struct sweep_kinds *kinds, bool here, const char **kind,
                         struct error *error)
{
    *kind = NULL;
    for (size_t set = 0; set < kinds->sets; set++) {
        const char *known = kinds->known[set];
        if (!kinds->lacking[set] || !known || kinds->mix)
            continue;
        if (here && !sweep_kinds_may_measure(kinds, kinds->lacking[set], error))
            return false;
        if (*kind && strcmp(*kind, known) != 0)
            return error_set(
                error,
                "what is lacking is compared with samples of the processors \"%s\" and "
                "\"%s\", and jobs measure on one kind; --mix-machines takes any",
                *kind, known);
        *kind = known;
    }
    if (!here && !*kind)
        *kind = kind_of_all(kinds);
    return true;
}
