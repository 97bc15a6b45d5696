/* replay_json.c - see account.h and textbook.h: the examples of harness/replays as JSON. */
#include "harness/base/memory.h"
#include "harness/host/data_folder.h"
#include "harness/trace/account.h"
#include "harness/trace/textbook.h"

#include <stdlib.h>
#include <string.h>

/* Accounts ------------------------------------------------------------------------------------ */

/* A text that is NULL becomes null. */
static json_t *texts_to_json(char *const *texts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, texts[i] ? json_string(texts[i]) : json_null());
    return array;
}

static json_t *picture_to_json(const struct account_picture *picture)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < picture->rows; i++) {
        const struct account_row *row = &picture->row[i];
        json_array_append_new(rows, json_pack("{ss so so sb}", "at", row->at, "told",
                                              texts_to_json(row->told, picture->columns), "run",
                                              texts_to_json(row->real, picture->columns), "agrees",
                                              (int)account_row_agrees(picture, i)));
    }
    return json_pack("{ss ss ss si so so so}", "title", picture->title, "variant", picture->variant,
                     "workload", picture->workload, "workers", picture->workers, "columns",
                     texts_to_json(picture->column, picture->columns), "heads",
                     texts_to_json(picture->head, picture->columns), "rows", rows);
}

json_t *account_to_json(const struct account *account, const json_t *itself)
{
    json_t *pictures = json_array();
    for (size_t i = 0; i < account->pictures; i++)
        json_array_append_new(pictures, picture_to_json(&account->picture[i]));
    json_t *object =
        json_pack("{ss ss ss ss ss ss ss so}", "name", account->name, "title", account->title,
                  "source", account->who, "claims", account->claims, "degree", account->degree,
                  "says", account->says, "go", account->go, "pictures", pictures);
    if (itself)
        json_object_set(object, "itself", (json_t *)(size_t)itself);
    return object;
}

/* The textbook -------------------------------------------------------------------------------- */

static json_t *cells_to_json(const struct textbook_table *table, const struct textbook_cell *cells)
{
    json_t *array = json_array();
    for (int i = 0; i < table->processors; i++)
        json_array_append_new(
            array, json_pack("{ss ss}", "stack", cells[i].stack, "deque", cells[i].deque));
    return array;
}

json_t *textbook_table_to_json(const struct textbook *replay, const struct textbook_table *table)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < table->rows; i++) {
        const struct textbook_row *row = &table->row[i];
        json_array_append_new(
            rows, json_pack("{ss so so sb sb ss}", "turns", row->turns, "told",
                            cells_to_json(table, row->book), "run", cells_to_json(table, row->real),
                            "agrees", (int)textbook_row_agrees(table, i), "erratum",
                            (int)textbook_row_is_as_meant(table, i), "did", row->deeds));
    }
    return json_pack("{ss ss si ss ss ss ss ss so}", "title", table->title, "policy", table->policy,
                     "processors", table->processors, "variant", table->variant, "workload",
                     table->workload ? table->workload : replay->workload, "claims", table->claims,
                     "degree", table->degree, "go", table->go, "rows", rows);
}

/* List ---------------------------------------------------------------------------------------- */

static void list_add(json_t *list, const char *name, const char *title, const char *who,
                     const char *claims, const char *degree, const char *options)
{
    char *command = text_format("schedlab trace --replay %s%s", name, options);
    json_array_append_new(list,
                          json_pack("{ss ss ss ss ss ss}", "name", name, "title", title, "source",
                                    who, "claims", claims, "degree", degree, "command", command));
    free(command);
}

static bool textbook_list(json_t *list, struct error *error)
{
    struct textbook *book = textbook_load(textbook_name, error);
    if (!book)
        return false;
    for (size_t i = 0; i < book->tables; i++) {
        const struct textbook_table *table = &book->table[i];
        char *options =
            text_format(" --policy %s --processors %d", table->policy, table->processors);
        list_add(list, textbook_name, table->title, book->who, table->claims, table->degree,
                 options);
        free(options);
    }
    textbook_free(book);
    return true;
}

static bool account_list(json_t *list, const char *name, struct error *error)
{
    struct account *account = account_load(name, error);
    if (!account)
        return false;
    list_add(list, name, account->title, account->who, account->claims, account->degree, "");
    account_free(account);
    return true;
}

json_t *replay_list_to_json(struct error *error)
{
    char **names = data_folder_names("replays", error);
    if (!names)
        return NULL;
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; names[i] && ok; i++)
        ok = strcmp(names[i], textbook_name) == 0 ? textbook_list(list, error)
                                                  : account_list(list, names[i], error);
    data_folder_names_free(names);
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}
