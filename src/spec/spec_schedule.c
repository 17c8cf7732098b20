/* spec_schedule.c: `schedule:` of a flow file, and the same from flags: when the flow is made again and again. */
#include "recur.h"
#include "spec_impl.h"

enum err spec_schedule_read(struct spec *s, struct spec_schedule *ret) {
    const struct json_node *node = s->flow.schedule;
    ret->name = s->flow.name;
    if (node == NULL) return ERR_OK;
    if (node->kind != JSON_OBJECT) return spec_text(s, node, "a cron pattern or an object", &ret->cron);
    enum err e = spec_object_read(s, &spec_schedule_keys, node, 0, ret);
    if (e != ERR_OK) return e;
    struct wire_schedule_set unused;
    struct why inner = {{0}};
    e = spec_schedule_message(ret, s->arena, &unused, &inner);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, node->at, e, "%s", inner.text);
}

static bool word_of(struct slice text, const char *const *words, uint8_t *ret) {
    for (uint8_t i = 0; words[i] != NULL; i++)
        if (slice_eq(text, slice_str(words[i]))) {
            *ret = i;
            return true;
        }
    return text.len == 0;
}

static void part(struct buf *to, const char *word, struct slice value) {
    if (value.len > 0) buf_printf(to, "%s%s %.*s", to->len > 0 ? "; " : "", word, SLICE_FMT(value));
}

enum err spec_schedule_message(const struct spec_schedule *from, struct arena *arena, struct wire_schedule_set *ret,
                               struct why *why) {
    static const char *const catch_ups[] = {"all", "last", "none", NULL}, *const overlaps[] = {"skip", "queue",
                                                                                               "replace", NULL};
    struct wire_schedule_set m = {.name = from->name,
                                  .paused = from->paused,
                                  .start_ms = from->start_ms,
                                  .end_ms = from->end_ms,
                                  .catch_up = WIRE_CATCH_UP_LAST};
    struct recur recur;
    struct buf text;
    if ((from->cron.len > 0) + (from->every.len > 0) + (from->at.len > 0) != 1)
        return why_set(why, ERR_INVALID, "a schedule has one of `cron`, `every` and `at`");
    if (!word_of(from->catch_up, catch_ups, &m.catch_up))
        return why_set(why, ERR_INVALID, "`catch_up` is all, last or none");
    if (!word_of(from->overlap, overlaps, &m.overlap))
        return why_set(why, ERR_INVALID, "`overlap` is skip, queue or replace");
    buf_init(&text, 1024);
    part(&text, "cron", from->cron);
    part(&text, "every", from->every);
    part(&text, "at", from->at);
    part(&text, "from", from->from);
    part(&text, "zone", from->zone);
    part(&text, "gap", from->gap);
    part(&text, "fold", from->fold);
    m.expression = arena_slice(arena, buf_slice(&text));
    enum err e = text.full ? why_set(why, ERR_LIMIT, "too long for a schedule") : recur_read(m.expression, &recur, why);
    buf_fini(&text);
    if (e == ERR_OK) *ret = m;
    return e;
}
