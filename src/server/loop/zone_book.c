/* zone_book.c: see zone_book.h. */
#include "zone_book.h"

#include <stdio.h>

#include "moment.h"

#define ARENA_MAX ((size_t)1 << 22)
#define ASKED_MAX 1000u

void zone_book_init(struct zone_book *b, struct zones *zones) {
    *b = (struct zone_book){.zones = zones};
    arena_init(&b->arena, 4096, ARENA_MAX);
}

void zone_book_fini(struct zone_book *b) {
    arena_fini(&b->arena);
}

static enum err zone_read(struct zone_book *b, const char *name, struct zone **ret, struct why *why) {
    struct buf file;
    if (b->zones == NULL) return why_set(why, ERR_UNSUPPORTED, "this server has no time zone data");
    buf_init(&file, ZONE_FILE_BYTES_MAX);
    enum err e = b->zones->read(b->zones, name, &file, why);
    if (e == ERR_OK) e = zone_open(buf_slice(&file), &b->arena, ret, why);
    buf_fini(&file);
    return e;
}

enum err zone_book_find(struct zone_book *b, struct slice name, const struct zone **ret, struct why *why) {
    char text[ZONE_NAME_BYTES_MAX + 1];
    struct zone *zone = NULL;
    if (name.len == 0) {
        *ret = zone_utc;
        return ERR_OK;
    }
    if (!zone_name_is_fit(name))
        return why_set(why, ERR_INVALID, "`%.*s` is not the name of a time zone", SLICE_FMT(name));
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(name));
    bool is_old = ++b->asked > ASKED_MAX;
    for (uint32_t i = 0; i < b->count && !is_old; i++)
        if (strcmp(b->kept[i].name, text) == 0) {
            *ret = b->kept[i].zone;
            return ERR_OK;
        }
    if (is_old || b->count == ZONE_BOOK_NAMES) {
        arena_reset(&b->arena);
        b->count = b->asked = 0;
    }
    enum err e = zone_read(b, text, &zone, why);
    if (e != ERR_OK) return e;
    memcpy(b->kept[b->count].name, text, sizeof text);
    b->kept[b->count++].zone = zone;
    *ret = zone;
    return ERR_OK;
}

struct slice zone_book_slot(struct zone_book *b, struct slice zone, int64_t slot_ms, struct arena *arena) {
    char *text = arena_alloc(arena, MOMENT_TEXT_BYTES);
    const struct zone *z = zone_utc;
    struct why ignored;
    if (b != NULL) (void)!zone_book_find(b, zone, &z, &ignored);
    moment_text(z, slot_ms / 1000, text);
    return slice_str(text);
}
