/* recur_read.c: recurrences from their text; see recur.h. */
#include "civil.h"
#include "recur.h"

#define EVERY_MAX (366LL * CIVIL_DAY)

static struct slice trim(struct slice s) {
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t')) s.len--;
    return s;
}

/* The next part of the text: its first word, and what follows it. False at the end. */
static bool next_part(struct slice *text, struct slice *ret_word, struct slice *ret_value) {
    if (text->ptr == NULL) return false;
    const uint8_t *end = text->len ? memchr(text->ptr, ';', text->len) : NULL;
    struct slice part = end ? slice_of(text->ptr, (size_t)(end - text->ptr)) : *text;
    *text = end ? slice_of(end + 1, text->len - part.len - 1) : slice_of(NULL, 0);
    part = trim(part);
    size_t word = 0;
    while (word < part.len && part.ptr[word] != ' ' && part.ptr[word] != '\t') word++;
    *ret_word = slice_of(part.ptr, word);
    *ret_value = trim(slice_of(part.ptr + word, part.len - word));
    return true;
}

/* "90s", "15m", "1h30m", "2d", "1w" */
static enum err read_every(struct slice text, int64_t *ret, struct why *why) {
    static const struct {
        char sign;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', CIVIL_DAY}, {'w', 7 * CIVIL_DAY}};
    int64_t sum = 0;
    size_t i = 0;
    while (i < text.len && sum <= EVERY_MAX) {
        int64_t number = 0, unit = 0;
        size_t from = i;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
            if (number <= EVERY_MAX) number = number * 10 + (text.ptr[i] - '0');
        for (size_t k = 0; i < text.len && k < sizeof units / sizeof *units; k++)
            if (text.ptr[i] == (uint8_t)units[k].sign) unit = units[k].seconds;
        if (i == from || unit == 0) {
            sum = 0;
            break;
        }
        sum = number > EVERY_MAX ? EVERY_MAX + 1 : sum + number * unit;
        i++;
    }
    if (sum == 0)
        return why_set(why, ERR_INVALID, "every: expected a duration like 30s, 15m, 1h30m, 1d or 1w, found `%.*s`",
                       SLICE_FMT(text));
    if (sum > EVERY_MAX)
        return why_set(why, ERR_LIMIT, "every: expected at most 366 days, found `%.*s`", SLICE_FMT(text));
    *ret = sum;
    return ERR_OK;
}

static enum err read_moment(const char *part, struct slice text, bool may_be_local, int64_t *ret, bool *ret_is_utc,
                            struct why *why) {
    if (!civil_read(text, ret, ret_is_utc))
        return why_set(why, ERR_INVALID, "%s: expected a time like 2026-12-24T18:00, found `%.*s`", part,
                       SLICE_FMT(text));
    if (!*ret_is_utc && !may_be_local)
        return why_set(why, ERR_INVALID, "`%s %.*s`: it needs its offset: a Z for UTC, or +01:00", part,
                       SLICE_FMT(text));
    return ERR_OK;
}

/* The first part says what kind it is; the others hang on that. */
static enum err read_kind(struct slice word, struct slice value, struct recur *r, bool *ret_is_utc, struct why *why) {
    *ret_is_utc = false;
    if (slice_eq(word, SLICE("cron"))) {
        enum err e = cron_read(value, &r->cron, why);
        bool is_interval = e == ERR_OK && cron_is_each_hour(&r->cron);
        r->kind = RECUR_CRON;
        r->gap = is_interval ? RECUR_GAP_SKIP : RECUR_GAP_AFTER;
        r->fold = is_interval ? RECUR_FOLD_BOTH : RECUR_FOLD_FIRST;
        return e;
    }
    if (slice_eq(word, SLICE("every"))) {
        r->kind = RECUR_EVERY;
        return read_every(value, &r->every, why);
    }
    if (slice_eq(word, SLICE("at"))) {
        r->kind = RECUR_AT;
        return read_moment("at", value, true, &r->at, ret_is_utc, why);
    }
    return why_set(why, ERR_INVALID, "`%.*s`: a schedule begins with cron, every or at", SLICE_FMT(word));
}

static enum err read_detail(struct slice word, struct slice value, struct recur *r, struct why *why) {
    static const char *const gaps[] = {"after", "skip"}, *const folds[] = {"first", "last", "both"};
    bool ignored;
    if (slice_eq(word, SLICE("from")) && r->kind == RECUR_EVERY)
        return read_moment("from", value, false, &r->from, &ignored, why);
    if (slice_eq(word, SLICE("zone"))) {
        if (!zone_name_is_fit(value))
            return why_set(why, ERR_INVALID, "`%.*s` is not the name of a zone, such as Europe/Lisbon",
                           SLICE_FMT(value));
        r->zone = value;
        return ERR_OK;
    }
    if (slice_eq(word, SLICE("gap")) && r->kind != RECUR_EVERY) {
        for (uint32_t i = 0; i < 2; i++)
            if (slice_eq(value, slice_str(gaps[i]))) {
                r->gap = (enum recur_gap)i;
                return ERR_OK;
            }
        return why_set(why, ERR_INVALID, "`gap %.*s`: after or skip", SLICE_FMT(value));
    }
    if (slice_eq(word, SLICE("fold")) && r->kind != RECUR_EVERY) {
        for (uint32_t i = 0; i < 3; i++)
            if (slice_eq(value, slice_str(folds[i])) && !(r->kind == RECUR_AT && i == RECUR_FOLD_BOTH)) {
                r->fold = (enum recur_fold)i;
                return ERR_OK;
            }
        return why_set(why, ERR_INVALID, "`fold %.*s`: first%s", SLICE_FMT(value),
                       r->kind == RECUR_AT ? " or last" : ", last or both");
    }
    return why_set(why, ERR_INVALID, "unexpected `%.*s`: %s", SLICE_FMT(word),
                   r->kind == RECUR_EVERY ? "an interval takes `from` and `zone`" : "zone, gap and fold are");
}

enum err recur_read(struct slice text, struct recur *ret, struct why *why) {
    struct recur r = {0};
    struct slice rest = text, word, value;
    bool is_utc = false;
    enum err e = next_part(&rest, &word, &value)
                     ? read_kind(word, value, &r, &is_utc, why)
                     : why_set(why, ERR_INVALID, "a schedule begins with cron, every or at");
    while (e == ERR_OK && next_part(&rest, &word, &value)) e = read_detail(word, value, &r, why);
    if (e == ERR_OK && is_utc && r.zone.len > 0)
        e = why_set(why, ERR_INVALID, "`at` says its offset already: a zone contradicts it");
    if (e == ERR_OK) *ret = r;
    return e;
}
