/* spec_schedule.c: `schedule:` of a flow file, and the same from flags: when the flow is made again and again. */
#include "recur_plan.h"
#include "spec_impl.h"

#define CALENDAR_BYTES_MAX (1u << 18)

/* Files are read when a schedule is made of the file, not whenever the flow is looked at. */
static enum err read_files(struct spec *s, const struct json_node *node, struct spec_schedule *ret) {
    const struct wire_name *names = ret->calendar_files.at;
    const struct spec_world *w = &s->in->world;
    struct why inner = {{0}};
    enum err e = ERR_OK;
    struct buf days;
    if (ret->calendar_files.count == 0 || !s->in->has_slot) return ERR_OK;
    if (w->text == NULL)
        return spec_refuse(s, node->at, ERR_UNSUPPORTED,
                           "a calendar file cannot be named here: list the days in `not`");
    buf_init(&days, CALENDAR_BYTES_MAX);
    for (uint32_t i = 0; e == ERR_OK && i < ret->calendar_files.count; i++) {
        struct slice text;
        e = w->text(w->ctx, names[i].name, &text, &inner);
        if (e == ERR_OK) e = spec_calendar_file(names[i].name, text, w->now_ms, &days, &inner);
    }
    if (e == ERR_OK) ret->file_days = arena_slice(s->arena, buf_slice(&days));
    buf_fini(&days);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, node->at, e, "%s", inner.text);
}

enum err spec_schedule_read(struct spec *s, struct spec_schedule *ret) {
    const struct json_node *node = s->flow.schedule;
    ret->name = s->flow.name;
    if (node == NULL) return ERR_OK;
    if (node->kind != JSON_OBJECT) return spec_text(s, node, "a cron pattern or an object", &ret->cron);
    enum err e = spec_object_read(s, &spec_schedule_keys, node, 0, ret);
    if (e == ERR_OK) e = read_files(s, node, ret);
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

static void put_names(struct buf *to, const char *word, const struct tlv_list *names, struct slice more) {
    const struct wire_name *list = names->at;
    if (names->count == 0 && more.len == 0) return;
    buf_printf(to, "%s%s ", to->len > 0 ? "; " : "", word);
    for (uint32_t i = 0; i < names->count; i++) buf_printf(to, "%s%.*s", i ? "," : "", SLICE_FMT(list[i].name));
    if (more.len > 0) {
        if (names->count > 0) buf_put_u8(to, ',');
        buf_put_slice(to, more);
    }
}

/* Its text, and whether it can be used for the recurrence. */
static enum err calendar_message(const struct spec_schedule *from, const struct recur *recur, struct arena *arena,
                                 struct slice *ret, struct why *why) {
    struct recur_plan plan = {.recur = *recur};
    struct buf text;
    buf_init(&text, CALENDAR_BYTES_MAX);
    put_names(&text, "weekdays", &from->weekdays, (struct slice){0});
    put_names(&text, "not", &from->days, from->file_days);
    part(&text, "excluded", from->excluded);
    *ret = arena_slice(arena, buf_slice(&text));
    enum err e = text.full ? why_set(why, ERR_LIMIT, "the calendar is larger than %u bytes", CALENDAR_BYTES_MAX)
                           : day_calendar_read(*ret, arena, &plan.days, why);
    buf_fini(&text);
    return e == ERR_OK ? recur_plan_check(&plan, why) : e;
}

/* What only the clock has is refused, not left out. */
static enum err key_message(const struct spec_schedule *from, struct arena *arena, struct wire_schedule_set *ret,
                            struct why *why) {
    const struct wire_name *words = from->on_when.at;
    struct buf when;
    if (from->from.len + from->zone.len + from->gap.len + from->fold.len + from->catch_up.len > 0 ||
        from->weekdays.count + from->days.count + from->calendar_files.count > 0 || from->excluded.len > 0)
        return why_set(why, ERR_INVALID, "a key starts the schedule: it has no zone, catch_up or calendar");
    buf_init(&when, 256);
    for (uint32_t i = 0; i < from->on_when.count; i++) {
        struct slice word = words[i].name;
        buf_printf(&when, "%s%.*s", i ? "," : "", SLICE_FMT(word));
        bool is_known = slice_eq(word, SLICE("set")) || slice_eq(word, SLICE("changed"));
        if (is_known || slice_eq(word, SLICE("deleted"))) continue;
        buf_fini(&when);
        return why_set(why, ERR_INVALID, "`when` is set, changed or deleted, or a list of them; found `%.*s`",
                       SLICE_FMT(word));
    }
    ret->key = from->on_key;
    ret->when = arena_slice(arena, buf_slice(&when));
    ret->min_interval_ms = from->on_interval_ms;
    ret->own_changes = from->on_own;
    buf_fini(&when);
    return ERR_OK;
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
    if ((from->cron.len > 0) + (from->every.len > 0) + (from->at.len > 0) + (from->on_key.len > 0) != 1)
        return why_set(why, ERR_INVALID, "a schedule has one of `cron`, `every`, `at` and `on`");
    if (!word_of(from->catch_up, catch_ups, &m.catch_up))
        return why_set(why, ERR_INVALID, "`catch_up` is all, last or none");
    if (!word_of(from->overlap, overlaps, &m.overlap))
        return why_set(why, ERR_INVALID, "`overlap` is skip, queue or replace");
    if (from->on_key.len > 0) {
        if (from->overlap.len == 0) m.overlap = WIRE_OVERLAP_QUEUE;
        enum err e = key_message(from, arena, &m, why);
        if (e == ERR_OK) *ret = m;
        return e;
    }
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
    if (e == ERR_OK) e = calendar_message(from, &recur, arena, &m.calendar, why);
    if (e == ERR_OK) *ret = m;
    return e;
}
