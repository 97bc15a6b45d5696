/* linear.c - see linear.h.
 *
 * A model is the queue's content, and for each operation that has begun and not ended, whether it
 * has happened in it, and with which result. An operation happens only when some end needs it. At
 * an end all models are dropped in which the operation cannot have had its result.
 */
#include "harness/hunt/linear.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { THREADS = LINEAR_THREADS, ITEMS = LINEAR_ITEMS, MODELS = 512, NOTES = LINEAR_NOTES };

struct model {
    uint8_t count, next, item[ITEMS]; /* oldest first; next: of the slot, 0: none */
    uint32_t result[THREADS];
    uint8_t happened[THREADS], unused[4];
};

static const char *const words[] = {
#define LINEAR_WORD(name, word) word,
    LINEAR_OPERATIONS(LINEAR_WORD)
#undef LINEAR_WORD
};

static struct model models[MODELS], kept[MODELS];
static int model_count, kept_count;
static int capacity;

/* The operation of each thread. */
static struct {
    enum linear_operation operation;
    uint8_t item;
    bool begun, open; /* open: between its first access and its end */
} now[THREADS];

/* Beginnings and ends so far, for the message. */
static struct note {
    uint8_t thread, operation, item;
    bool ends;
    uint32_t taken;
} notes[NOTES];
static int note_count;

void linear_capacity(int new_capacity)
{
    capacity = new_capacity;
}

static void note(int thread, bool ends, uint32_t taken)
{
    if (note_count < NOTES)
        notes[note_count++] = (struct note){(uint8_t)thread, (uint8_t)now[thread].operation,
                                            now[thread].item, ends, taken};
}

static void executes(void)
{
    memset(models, 0, sizeof models[0]);
    memset(now, 0, sizeof now);
    model_count = 1;
    note_count = 0;
}

static void starts(int thread)
{
    if (!now[thread].begun || now[thread].open)
        return;
    now[thread].open = true;
    note(thread, false, 0);
}

static uint64_t model_hash(const struct model *model)
{
    uint64_t hash = 1;
    for (size_t k = 0; k < sizeof *model / sizeof hash; k++) {
        uint64_t word;
        memcpy(&word, (const char *)model + k * sizeof word, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Independent of the order of models. */
static uint64_t state(const uint8_t as[HUNT_THREADS_MAX])
{
    uint64_t sum = 0;
    for (int i = 0; i < model_count; i++) {
        struct model model = models[i];
        for (int thread = 0; thread < THREADS; thread++) {
            model.result[thread] = models[i].result[as[thread]];
            model.happened[thread] = models[i].happened[as[thread]];
        }
        sum += model_hash(&model);
    }
    return sum;
}
_Static_assert(sizeof(struct model) % sizeof(uint64_t) == 0, "it is hashed by words");

const struct explore_watcher linear_watcher = {executes, starts, state};

/* Operations ---------------------------------------------------------------------------------- */

static void put(struct model *model, uint8_t item)
{
    model->item[model->count++] = item;
}

/* Takes the first n; their set. */
static uint32_t take_front(struct model *model, int n)
{
    uint32_t taken = 0;
    for (int i = 0; i < n; i++)
        taken |= UINT32_C(1) << model->item[i];
    model->count = (uint8_t)(model->count - n);
    memmove(model->item, model->item + n, model->count);
    memset(model->item + model->count, 0, (size_t)n);
    return taken;
}

static uint32_t take_back(struct model *model)
{
    if (!model->count)
        return 0;
    uint8_t item = model->item[--model->count];
    model->item[model->count] = 0;
    return UINT32_C(1) << item;
}

static uint32_t take_slot(struct model *model)
{
    uint32_t taken = model->next ? UINT32_C(1) << model->next : 0;
    model->next = 0;
    return taken;
}

static uint32_t send(struct model *model, uint8_t item)
{
    if (model->count == capacity)
        return 0;
    put(model, item);
    return 1;
}

/* Lets the thread's operation happen in its way-th way. False: there are no more ways. */
static bool happen(struct model *model, int thread, int way)
{
    uint32_t *result = &model->result[thread];
    uint8_t item = now[thread].item, before = model->next;
    model->happened[thread] = 1;
    switch (now[thread].operation) {
    case LINEAR_PUT:
        put(model, item);
        return way == 0;
    case LINEAR_PUT_NEXT:
        model->next = item;
        if (before)
            put(model, before);
        return way == 0;
    case LINEAR_SEND:
        *result = send(model, item);
        return way == 0;
    case LINEAR_TAKE_BACK:
        *result = take_back(model);
        return way == 0;
    case LINEAR_TAKE_FRONT:
        *result = take_front(model, model->count > 0);
        return way == 0;
    case LINEAR_TAKE_NEXT:
        *result = before ? take_slot(model) : take_front(model, model->count > 0);
        return way == 0;
    case LINEAR_STEAL:
        *result = way ? LINEAR_LOST : take_front(model, model->count > 0);
        return way <= 1;
    case LINEAR_STEAL_SHARE:
        if (way <= model->count)
            *result = take_front(model, way);
        else if (way == model->count + 1)
            *result = take_slot(model);
        else
            return false;
        return true;
    case LINEAR_DRAIN:
        *result = take_slot(model) | take_front(model, model->count);
        return way == 0;
    }
    return false;
}

/* Ends ---------------------------------------------------------------------------------------- */

static void keep(const struct model *model)
{
    for (int i = 0; i < kept_count; i++)
        if (memcmp(&kept[i], model, sizeof *model) == 0)
            return;
    if (kept_count == MODELS)
        hunt_fail(HUNT_UNFIT, "more models explain it than there is room for\n");
    kept[kept_count++] = *model;
}

static void close_operation(struct model *model, int thread, uint32_t taken)
{
    if (model->result[thread] != taken)
        return;
    model->result[thread] = 0;
    model->happened[thread] = 0;
    keep(model);
}

/* Keeps each model that this one can become by the thread's end. */
static void explain(const struct model *model, int thread, uint32_t taken)
{
    struct model next = *model;
    if (model->happened[thread]) {
        close_operation(&next, thread, taken);
        return;
    }
    for (int i = 0; i < THREADS; i++) {
        if (!now[i].open || model->happened[i])
            continue;
        for (int way = 0; happen(&next, i, way); way++) {
            if (i == thread)
                close_operation(&next, thread, taken);
            else
                explain(&next, thread, taken);
            next = *model;
        }
        next = *model;
    }
}

static void items_print(FILE *to, uint32_t taken)
{
    if (!taken)
        fputs(" nothing", to);
    if (taken & LINEAR_LOST)
        fputs(" nothing, another was faster", to);
    for (int i = 1; i < 31; i++)
        if (taken >> i & 1)
            fprintf(to, " %d", i);
}

static _Noreturn void nothing_explains(void)
{
    static char text[HUNT_TEXT_SIZE];
    FILE *to = fmemopen(text, sizeof text, "w");
    fputs("no order of the operations explains what they returned\n", to);
    for (int i = 0; i < note_count; i++) {
        const struct note *at = &notes[i];
        fprintf(to, "  thread %d %s %s", at->thread, at->ends ? "ends" : "begins",
                words[at->operation]);
        if (at->item)
            fprintf(to, " %d", at->item);
        if (at->ends && at->operation == LINEAR_SEND)
            fputs(at->taken ? ": sent" : ": refused", to);
        else if (at->ends && at->operation > LINEAR_SEND)
            items_print((fputc(':', to), to), at->taken);
        fputc('\n', to);
    }
    fclose(to);
    hunt_fail(HUNT_WRONG, text);
}

void linear_begins(enum linear_operation operation, int item, uint64_t number)
{
    int thread = explore_thread();
    now[thread].operation = operation;
    now[thread].item = (uint8_t)item;
    now[thread].begun = true;
    now[thread].open = false;
    explore_operation(number);
}

void linear_ends(uint32_t taken)
{
    int thread = explore_thread();
    starts(thread); /* if it made no access to a shared word */
    note(thread, true, taken);
    kept_count = 0;
    for (int i = 0; i < model_count; i++)
        explain(&models[i], thread, taken);
    now[thread].begun = now[thread].open = false;
    if (kept_count == 0)
        nothing_explains();
    memcpy(models, kept, (size_t)kept_count * sizeof kept[0]);
    model_count = kept_count;
}
