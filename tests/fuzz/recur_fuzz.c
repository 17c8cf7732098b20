/* recur_fuzz.c: when something recurs, as people write it, in zones as their files have them. What is read has slots
 * that rise; what is not is refused with a sentence. The first byte chooses: a text, a zone file, a position. */
#include "panic.h"
#include "position.h"
#include "recur.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLOTS 8u

static void try_slots(const struct recur *r, const struct zone *z) {
    int64_t slots[SLOTS], now_ms = 1700000000000, at_ms = now_ms;
    for (uint32_t i = 0; i < SLOTS; i++) {
        int64_t before_ms = at_ms;
        if (!recur_next(r, z, at_ms, &at_ms)) break;
        ENSURE(at_ms > before_ms);
    }
    struct recur_slots got = recur_slots(r, z, now_ms - 86400000, now_ms, SLOTS, slots);
    ENSURE(got.count <= SLOTS);
    for (uint32_t i = 1; i < got.count; i++) ENSURE(slots[i] > slots[i - 1]);
}

static void try_text(struct slice text, const struct zone *z) {
    struct recur r;
    struct why why = {{0}};
    if (recur_read(text, &r, &why) == ERR_OK)
        try_slots(&r, z);
    else
        ENSURE(why.text[0] != 0);
}

static void try_zone(struct slice file) {
    static const int64_t moments[] = {ZONE_BEGIN, -1, 0, 1700000000, INT64_C(1) << 40, ZONE_END - 1};
    struct arena arena;
    struct zone *z = NULL;
    struct why why = {{0}};
    arena_init(&arena, 4096, (size_t)1 << 24);
    if (zone_open(file, &arena, &z, &why) == ERR_OK) {
        for (uint32_t i = 0; i < sizeof moments / sizeof *moments; i++) {
            struct zone_span span = zone_at(z, moments[i]);
            ENSURE(span.from <= moments[i] && moments[i] < span.until);
        }
        try_text(SLICE("cron 30 2 * * *"), z);
    }
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct slice rest = slice_of(data + 1, size - 1);
    struct position p, again;
    char room[POSITION_TEXT_BYTES];
    if (data[0] % 3 == 0) try_text(rest, zone_utc);
    if (data[0] % 3 == 1) try_zone(rest);
    if (data[0] % 3 == 2 && position_read(rest, &p))
        ENSURE(position_read(position_text(p, room), &again) && again.lsn == p.lsn && again.ordinal == p.ordinal);
    return 0;
}
