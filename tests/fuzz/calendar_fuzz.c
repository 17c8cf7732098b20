/* calendar_fuzz.c: calendars of days as people write them, and calendar files. What is read can be read again and has
 * slots that rise, on days that are not excluded; what is not is refused with a sentence. The first byte chooses. */
#include "civil.h"
#include "panic.h"
#include "recur_plan.h"
#include "spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENTRIES 8u

static void try_entries(const struct recur_plan *p) {
    struct recur_entry entries[ENTRIES];
    int64_t now_ms = 1700000000000;
    struct recur_slots got = recur_plan_slots(p, now_ms - 40 * 86400000LL, now_ms, ENTRIES, entries);
    ENSURE(got.count <= ENTRIES);
    for (uint32_t i = 0; i < got.count; i++) {
        int64_t day = recur_plan_day(p, entries[i].at_ms);
        bool excluded = day_calendar_acts(&p->days) && day_calendar_excludes(&p->days, day);
        ENSURE(i == 0 || entries[i].at_ms > entries[i - 1].at_ms);
        ENSURE(entries[i].excluded == excluded);
        ENSURE(entries[i].first_ms <= entries[i].at_ms);
    }
}

static void try_text(struct slice text) {
    static const char *const expressions[] = {"cron 30 9 * * *", "every 6h", "cron 0 0 15W,LW * *", "at 2023-11-20"};
    struct arena arena;
    struct why why = {{0}};
    arena_init(&arena, 4096, (size_t)1 << 24);
    for (uint32_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        struct recur_plan p = {.zone = zone_utc};
        ENSURE(recur_read(slice_str(expressions[i]), &p.recur, &why) == ERR_OK);
        if (day_calendar_read(text, &arena, &p.days, &why) != ERR_OK)
            ENSURE(why.text[0] != 0);
        else if (recur_plan_check(&p, &why) == ERR_OK)
            try_entries(&p);
    }
    arena_fini(&arena);
}

/* What a file gives is the list of a calendar. */
static void try_file(struct slice bytes) {
    struct why why = {{0}};
    struct buf days, text;
    buf_init(&days, 1u << 20);
    buf_init(&text, (1u << 20) + 8);
    if (spec_calendar_file(SLICE("f"), bytes, 1700000000000, &days, &why) == ERR_OK) {
        struct arena arena;
        struct day_calendar c;
        arena_init(&arena, 4096, (size_t)1 << 26);
        buf_printf(&text, "not ");
        buf_put_slice(&text, buf_slice(&days));
        ENSURE(day_calendar_read(buf_slice(&text), &arena, &c, &why) == ERR_OK);
        ENSURE(c.count > 0);
        arena_fini(&arena);
    } else {
        ENSURE(why.text[0] != 0);
    }
    buf_fini(&days);
    buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct slice rest = slice_of(data + 1, size - 1);
    if (data[0] % 2 == 0)
        try_text(rest);
    else
        try_file(rest);
    return 0;
}
