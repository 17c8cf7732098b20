/* hfind.c: see hfind.h. */
#include "hfind.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "buf.h"
#include "hword.h"
#include "panic.h"

#define MATCH_BYTES_MAX 65536u
#define FOUND_BYTES_MAX ((size_t)8 << 20) /* a page of long names may be short */
#define NEAR_LOOKED_MAX 1000u

#define COLUMNS "f.id, f.lsn, f.tenant, f.name, f.state, f.labels, f.head, f.schedule"
enum column {
    COLUMN_ID,
    COLUMN_LSN,
    COLUMN_TENANT,
    COLUMN_NAME,
    COLUMN_STATE,
    COLUMN_LABELS,
    COLUMN_HEAD,
    COLUMN_SCHEDULE
};

/* ---- what no index tells ---- */

/* Labels are lines "key=value"; of the wanted one the whole line, or the key. */
static bool has_label(struct slice lines, struct slice wanted, bool is_key) {
    while (lines.len > 0) {
        const uint8_t *end = memchr(lines.ptr, '\n', lines.len);
        size_t len = end != NULL ? (size_t)(end - lines.ptr) : lines.len;
        struct slice line = slice_of(lines.ptr, len);
        if (is_key ? slice_begins(line, wanted) && len > wanted.len && line.ptr[wanted.len] == '='
                   : slice_eq(line, wanted))
            return true;
        size_t step = end != NULL ? len + 1 : len;
        lines = slice_of(lines.ptr + step, lines.len - step);
    }
    return false;
}

static bool is_wanted(const struct history_query *q, sqlite3_stmt *row) {
    bool state_fits = q->state_count == 0;
    if (q->tenant.len > 0 && !slice_eq(hdb_column(row, COLUMN_TENANT), q->tenant)) return false;
    if (!slice_begins(hdb_column(row, COLUMN_NAME), q->name)) return false;
    if (q->schedule.len > 0 && !slice_eq(hdb_column(row, COLUMN_SCHEDULE), q->schedule)) return false;
    for (uint32_t i = 0; i < q->state_count; i++) state_fits |= slice_eq(hdb_column(row, COLUMN_STATE), q->states[i]);
    for (uint32_t i = 0; state_fits && i < q->label_count; i++)
        if (!has_label(hdb_column(row, COLUMN_LABELS), q->labels[i], false)) return false;
    return state_fits && (q->label_key.len == 0 || has_label(hdb_column(row, COLUMN_LABELS), q->label_key, true));
}

/* ---- times ---- */

/* The first flow that was created at `ms` or later. Flows get their numbers in the order of their creation. */
static enum err first_since(struct hdb *d, int64_t ms, uint64_t *ret, struct why *why) {
    sqlite3_stmt *q = NULL;
    uint64_t low = 0, high = INT64_MAX; /* everything below `low` is too old, `high` is not, or there is nothing */
    enum err e = hdb_prepare(d, "SELECT id, created_ms FROM flow WHERE id >= ?1 ORDER BY id LIMIT 1", &q, why);
    while (e == ERR_OK && low < high) {
        uint64_t middle = low + (high - low) / 2;
        bool row = false;
        (void)sqlite3_bind_int64(q, 1, (int64_t)middle);
        e = hdb_step(d, q, &row, why);
        if (e == ERR_OK && (!row || sqlite3_column_int64(q, 1) >= ms))
            high = middle;
        else if (e == ERR_OK)
            low = (uint64_t)sqlite3_column_int64(q, 0) + 1;
        (void)sqlite3_reset(q);
    }
    (void)sqlite3_finalize(q);
    if (e == ERR_OK) *ret = low;
    return e;
}

/* ---- pages ---- */

struct find_plan { /* ?1 and ?4 what is looked for, ?2 and ?3 the numbers */
    const char *sql;
    struct slice key, other;
};

#define IN_RANGE " AND f.id < ?2 AND f.id >= ?3"

/* Along the best index there is that is not of words. */
static struct find_plan plan_of(const struct history_query *q) {
    if (q->schedule.len > 0)
        return (struct find_plan){"SELECT " COLUMNS " FROM flow f WHERE schedule = ?1 AND schedule <> ''" IN_RANGE
                                  " ORDER BY f.id DESC",
                                  q->schedule,
                                  {0}};
    if (q->tenant.len > 0 && !slice_eq(q->tenant, SLICE("default")))
        return (struct find_plan){"SELECT " COLUMNS " FROM flow f WHERE tenant = ?1 AND tenant <> 'default'" IN_RANGE
                                  " ORDER BY f.id DESC",
                                  q->tenant,
                                  {0}};
    if (q->state_count == 1)
        return (struct find_plan){
            "SELECT " COLUMNS " FROM flow f WHERE state = ?1" IN_RANGE " ORDER BY f.id DESC", q->states[0], {0}};
    if (q->state_count == 2 && !slice_eq(q->states[0], q->states[1])) /* two walks, merged as they go */
        return (struct find_plan){"SELECT " COLUMNS " FROM flow f WHERE state = ?1" IN_RANGE
                                  " UNION ALL SELECT " COLUMNS " FROM flow f WHERE state = ?4" IN_RANGE
                                  " ORDER BY 1 DESC",
                                  q->states[0], q->states[1]};
    return (struct find_plan){
        "SELECT " COLUMNS " FROM flow f WHERE ?1 IS NOT NULL" IN_RANGE " ORDER BY f.id DESC", {0}, {0}};
}

static struct find_plan plan_of_words(struct slice match) {
    return (struct find_plan){"SELECT " COLUMNS " FROM word CROSS JOIN flow f ON f.id = word.rowid WHERE word MATCH ?1"
                              " AND word.rowid < ?2 AND word.rowid >= ?3 ORDER BY word.rowid DESC",
                              match,
                              {0}};
}

/* At most `looked_max` rows are looked at. */
static enum err walk(struct hdb *d, sqlite3_stmt *rows, const struct history_query *q, uint32_t looked_max,
                     struct arena *arena, struct history_answer *ret, struct why *why) {
    uint32_t most = q->most > 0 ? q->most : 1, looked = 0, count = 0;
    struct history_found *found = ARENA_ARRAY(arena, struct history_found, most);
    size_t bytes = 0;
    uint64_t last = 0;
    enum err e = ERR_OK;
    ret->found = found;
    for (bool row = true; e == ERR_OK;) {
        e = hdb_step(d, rows, &row, why);
        if (e != ERR_OK || !row) break;
        uint64_t id = (uint64_t)sqlite3_column_int64(rows, COLUMN_ID);
        bool full = count == most || bytes > FOUND_BYTES_MAX || looked == looked_max;
        if (full && (looked == looked_max || is_wanted(q, rows))) {
            ret->next = count == most || bytes > FOUND_BYTES_MAX ? found[count - 1].flow : last;
            break;
        }
        last = id;
        looked++;
        if (full || !is_wanted(q, rows)) continue;
        found[count++] = (struct history_found){.flow = id,
                                                .lsn = (uint64_t)sqlite3_column_int64(rows, COLUMN_LSN),
                                                .head = arena_slice(arena, hdb_column(rows, COLUMN_HEAD))};
        bytes += found[count - 1].head.len;
    }
    ret->count = count;
    return e;
}

struct find_range {
    uint64_t from, before;
};

static enum err follow(struct hdb *d, const struct find_plan *p, struct find_range r, const struct history_query *q,
                       uint32_t looked_max, struct arena *arena, struct history_answer *ret, struct why *why) {
    sqlite3_stmt *rows = NULL;
    enum err e = hdb_prepare(d, p->sql, &rows, why);
    if (e == ERR_OK) {
        hdb_bind_text(rows, 1, p->key);
        (void)sqlite3_bind_int64(rows, 2, (int64_t)r.before);
        (void)sqlite3_bind_int64(rows, 3, (int64_t)r.from);
        if (p->other.len > 0) hdb_bind_text(rows, 4, p->other);
        e = walk(d, rows, q, looked_max, arena, ret, why);
    }
    (void)sqlite3_finalize(rows);
    return e;
}

static enum err range_of(struct hdb *d, const struct history_query *q, struct find_range *ret, struct why *why) {
    uint64_t bound = 0;
    enum err e = ERR_OK;
    *ret = (struct find_range){q->from, q->before != 0 ? q->before : INT64_MAX};
    if (q->since_ms > 0) e = first_since(d, q->since_ms, &bound, why);
    if (e == ERR_OK && bound > ret->from) ret->from = bound;
    if (e == ERR_OK && q->until_ms > 0) e = first_since(d, q->until_ms, &bound, why);
    if (e == ERR_OK && q->until_ms > 0 && bound < ret->before) ret->before = bound;
    return e;
}

/* What a row tells itself is looked for among the newest rows first (of a state, if one is wanted): when many have it,
 * they have a page of it, and the index of words is the wrong one. It would go through all that have the word, whatever
 * their state; and of a beginning it gathers all rows before it gives the first. */
static bool is_near_first(const struct history_query *q) {
    return q->text.len == 0 && (q->name.len > 0 || q->label_count > 0 || q->label_key.len > 0);
}

static enum err list(struct hdb *d, const struct history_query *q, struct arena *arena, struct history_answer *ret,
                     struct why *why) {
    struct buf match;
    struct find_range r;
    enum err e = range_of(d, q, &r, why);
    if (e != ERR_OK) return e;
    if (q->text.len > 0 && !hword_has(q->text))
        return why_set(why, ERR_INVALID, "words are searched for: letters or digits, not signs alone");
    buf_init(&match, MATCH_BYTES_MAX);
    e = hword_match(d, q, &match, why);
    struct find_plan plain = plan_of(q), words = plan_of_words(buf_slice(&match));
    bool near = is_near_first(q);
    if (e == ERR_OK && match.full) e = why_set(why, ERR_LIMIT, "so many words cannot be searched for at once");
    if (e == ERR_OK && near) e = follow(d, &plain, r, q, NEAR_LOOKED_MAX, arena, ret, why);
    bool found = near && (ret->count == q->most || ret->next == 0);
    if (e == ERR_OK && !found) {
        ret->count = 0;
        ret->next = 0;
        e = follow(d, match.len > 0 ? &words : &plain, r, q, HFIND_LOOKED_MAX, arena, ret, why);
    }
    buf_fini(&match);
    return e;
}

/* ---- one flow with its parts ---- */

static enum err unpack(struct slice packed, struct arena *arena, size_t *left, struct slice *ret, struct why *why) {
    unsigned long long len = ZSTD_getFrameContentSize(slice_data(packed), packed.len);
    if (len == ZSTD_CONTENTSIZE_ERROR || len == ZSTD_CONTENTSIZE_UNKNOWN)
        return why_set(why, ERR_CORRUPT, "history: jobs of a flow cannot be unpacked");
    if (len > *left) return why_set(why, ERR_LIMIT, "the flow is too large to be shown at once: list its jobs");
    uint8_t *space = arena_space(arena, len > 0 ? len : 1);
    size_t got = ZSTD_decompress(space, len, slice_data(packed), packed.len);
    if (ZSTD_isError(got) || got != len) return why_set(why, ERR_CORRUPT, "history: jobs of a flow cannot be unpacked");
    *left -= len;
    *ret = slice_of(space, len);
    return ERR_OK;
}

struct part_range {
    uint32_t first, end; /* of numbers */
};

static enum err later_parts(struct hdb *d, uint64_t flow, uint64_t lsn, struct part_range r, struct arena *arena,
                            size_t *left, struct slice *parts, struct history_answer *ret, struct why *why) {
    sqlite3_stmt *q = NULL;
    enum err e = hdb_prepare(
        d, "SELECT jobs FROM part WHERE flow = ?1 AND lsn = ?2 AND number >= ?3 AND number < ?4 ORDER BY number", &q,
        why);
    if (e == ERR_OK) {
        (void)sqlite3_bind_int64(q, 1, (int64_t)flow);
        (void)sqlite3_bind_int64(q, 2, (int64_t)lsn);
        (void)sqlite3_bind_int64(q, 3, r.first);
        (void)sqlite3_bind_int64(q, 4, r.end);
    }
    for (bool row = true; e == ERR_OK;) {
        e = hdb_step(d, q, &row, why);
        if (e != ERR_OK || !row) break;
        e = unpack(hdb_column(q, 0), arena, left, &parts[ret->part_count], why);
        if (e == ERR_OK) ret->part_count++;
    }
    (void)sqlite3_finalize(q);
    return e;
}

static enum err parts_of(struct hdb *d, const struct history_query *q, uint64_t flow, uint64_t lsn, struct arena *arena,
                         struct history_answer *ret, struct why *why) {
    sqlite3_stmt *s = NULL;
    bool row = false;
    size_t left = HISTORY_PARTS_BYTES_MAX;
    enum err e = hdb_prepare(d, "SELECT parts, jobs FROM flow WHERE id = ?1 AND lsn = ?2", &s, why);
    if (e != ERR_OK) return e;
    (void)sqlite3_bind_int64(s, 1, (int64_t)flow);
    (void)sqlite3_bind_int64(s, 2, (int64_t)lsn);
    e = hdb_step(d, s, &row, why);
    if (e == ERR_OK && row) {
        uint32_t total = (uint32_t)sqlite3_column_int64(s, 0);
        struct part_range r = {q->part_first, q->part_count == 0 ? total : q->part_first + q->part_count};
        if (r.end > total) r.end = total;
        struct slice *parts = ARENA_ARRAY(arena, struct slice, total + 1);
        ret->parts = parts;
        if (r.first == 0 && r.end > 0) {
            e = unpack(hdb_column(s, 1), arena, &left, &parts[0], why);
            ret->part_count = e == ERR_OK;
            r.first = 1;
        }
        if (e == ERR_OK && r.first < r.end) e = later_parts(d, flow, lsn, r, arena, &left, parts, ret, why);
    }
    (void)sqlite3_finalize(s);
    return e;
}

/* One read transaction: rows and parts are of the same moment. */
bool hfind(struct hdb *d, const struct history_query *q, struct arena *arena, struct history_answer *ret) {
    *ret = (struct history_answer){.token = q->token};
    enum err e = hdb_run(d, "BEGIN", &ret->why);
    if (e == ERR_OK) e = list(d, q, arena, ret, &ret->why);
    if (e == ERR_OK && q->parts && ret->count == 1)
        e = parts_of(d, q, ret->found[0].flow, ret->found[0].lsn, arena, ret, &ret->why);
    int code = sqlite3_errcode(d->db) & 0xff;
    if (!sqlite3_get_autocommit(d->db)) (void)sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
    ret->err = e;
    return e == ERR_CORRUPT && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB);
}
