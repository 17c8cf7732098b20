/* hput.c: see hput.h. */
#include "hput.h"

#include <zstd.h>

#include "panic.h"

#define PACKED_BYTES_MAX ((size_t)256 << 20)
#define ZSTD_LEVEL 3
#define ROW_BYTES 250u /* of a row beside its texts, indices included */
#define TRIM_FLOWS 500 /* in one transaction: about as long as any other */

static const char *const texts[HPUT_SQL_COUNT] = {
    [HPUT_KNOWN] = "SELECT lsn, bytes FROM flow WHERE id = ?1",
    [HPUT_FLOW] = ("INSERT OR REPLACE INTO flow(id, lsn, tenant, name, state, created_ms, finished_ms, labels, head,"
                   " parts, bytes, jobs, schedule) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"),
    [HPUT_WORD_DELETE] = "DELETE FROM word WHERE rowid = ?1",
    [HPUT_WORD] = "INSERT INTO word(rowid, name, jobs, labels, errors) VALUES(?1, ?2, ?3, ?4, ?5)",
    [HPUT_PART] = "INSERT OR REPLACE INTO part(flow, lsn, number, jobs) VALUES(?1, ?2, ?3, ?4)",
    [HPUT_PART_STALE] = "DELETE FROM part WHERE flow = ?1 AND lsn <> ?2",
    [HPUT_PART_DELETE] = "DELETE FROM part WHERE flow = ?1",
    [HPUT_FLOW_DELETE] = "DELETE FROM flow WHERE id = ?1",
    [HPUT_OLDEST] = "SELECT id, bytes FROM flow WHERE finished_ms < ?1 ORDER BY finished_ms LIMIT ?2",
};

enum err hput_open(struct hput *p, const char *path, struct why *why) {
    *p = (struct hput){0};
    buf_init(&p->packed, PACKED_BYTES_MAX);
    buf_init(&p->first, PACKED_BYTES_MAX);
    enum err e = hdb_open(&p->db, path, HDB_WRITE, why);
    for (uint32_t i = 0; e == ERR_OK && i < HPUT_SQL_COUNT; i++) e = hdb_prepare(&p->db, texts[i], &p->sql[i], why);
    p->zstd = ZSTD_createCCtx();
    ENSURE(p->zstd != NULL);
    if (e != ERR_OK) hput_close(p);
    return e;
}

void hput_close(struct hput *p) {
    for (uint32_t i = 0; i < HPUT_SQL_COUNT; i++) (void)sqlite3_finalize(p->sql[i]);
    (void)ZSTD_freeCCtx(p->zstd);
    hdb_close(&p->db);
    buf_fini(&p->packed);
    buf_fini(&p->first);
    *p = (struct hput){0};
}

/* ---- transactions ---- */

enum err hput_begin(struct hput *p, struct why *why) {
    p->flows_added = p->bytes_added = 0;
    return hdb_run(&p->db, "BEGIN IMMEDIATE", why);
}

void hput_rollback(struct hput *p) {
    for (uint32_t i = 0; i < HPUT_SQL_COUNT; i++) (void)sqlite3_reset(p->sql[i]);
    if (!sqlite3_get_autocommit(p->db.db)) (void)sqlite3_exec(p->db.db, "ROLLBACK", NULL, NULL, NULL);
    p->first_flow = 0;
}

static enum err count_flows(struct hput *p, struct why *why) {
    int64_t flows = 0, bytes = 0;
    enum err e = hdb_meta_get(&p->db, "flows", &flows, why);
    if (e == ERR_OK) e = hdb_meta_get(&p->db, "bytes", &bytes, why);
    if (e == ERR_OK && p->flows_added != 0) e = hdb_meta_set(&p->db, "flows", flows + p->flows_added, why);
    if (e == ERR_OK && p->bytes_added != 0) e = hdb_meta_set(&p->db, "bytes", bytes + p->bytes_added, why);
    return e;
}

enum err hput_commit(struct hput *p, struct why *why) {
    enum err e = count_flows(p, why);
    if (e == ERR_OK) e = hdb_run(&p->db, "COMMIT", why);
    if (e != ERR_OK) hput_rollback(p);
    return e;
}

/* A statement that gives no rows. */
static enum err run(struct hput *p, enum hput_sql which, struct why *why) {
    bool row = false;
    enum err e = hdb_step(&p->db, p->sql[which], &row, why);
    (void)sqlite3_reset(p->sql[which]);
    (void)sqlite3_clear_bindings(p->sql[which]);
    return e;
}

static enum err run_for(struct hput *p, enum hput_sql which, uint64_t flow, struct why *why) {
    (void)sqlite3_bind_int64(p->sql[which], 1, (int64_t)flow);
    return run(p, which, why);
}

/* ---- rows ---- */

static void pack(struct hput *p, struct slice body, struct buf *to) {
    size_t bound = ZSTD_compressBound(body.len);
    buf_clear(to);
    uint8_t *space = buf_space(to, bound);
    ENSURE(space != NULL);
    size_t len = ZSTD_compressCCtx(p->zstd, space, bound, slice_data(body), body.len, ZSTD_LEVEL);
    ENSURE(!ZSTD_isError(len));
    buf_cut(to, len);
}

/* The first part lies in the row of the flow: most flows have no other. */
enum err hput_part(struct hput *p, const struct history_part *part, struct why *why) {
    if (part->number == 0) {
        pack(p, part->body, &p->first);
        p->first_flow = part->flow;
        p->first_lsn = part->lsn;
        p->part_count = 1;
        p->part_bytes = p->first.len;
        return ERR_OK;
    }
    REQUIRE(part->flow == p->first_flow && part->lsn == p->first_lsn && part->number == p->part_count);
    sqlite3_stmt *q = p->sql[HPUT_PART];
    pack(p, part->body, &p->packed);
    (void)sqlite3_bind_int64(q, 1, (int64_t)part->flow);
    (void)sqlite3_bind_int64(q, 2, (int64_t)part->lsn);
    (void)sqlite3_bind_int64(q, 3, part->number);
    hdb_bind_blob(q, 4, buf_slice(&p->packed));
    p->part_count++;
    p->part_bytes += p->packed.len;
    return run(p, HPUT_PART, why);
}

static enum err put_words(struct hput *p, const struct history_row *row, bool known, struct why *why) {
    sqlite3_stmt *q = p->sql[HPUT_WORD];
    enum err e = known ? run_for(p, HPUT_WORD_DELETE, row->flow, why) : ERR_OK;
    if (e != ERR_OK) return e;
    (void)sqlite3_bind_int64(q, 1, (int64_t)row->flow);
    hdb_bind_text(q, 2, row->name);
    hdb_bind_text(q, 3, row->jobs);
    hdb_bind_text(q, 4, row->labels);
    hdb_bind_text(q, 5, row->errors);
    return run(p, HPUT_WORD, why);
}

/* About what a row takes of the file: texts are kept twice, and have an index about as large as they are. */
static int64_t bytes_of(const struct hput *p, const struct history_row *row, bool own) {
    size_t texts_len = row->name.len + row->labels.len + row->jobs.len + row->errors.len;
    return (int64_t)(ROW_BYTES + row->head.len + 3 * texts_len + (own ? p->part_bytes : 0));
}

static enum err put_flow(struct hput *p, const struct history_row *row, int64_t bytes, struct why *why) {
    sqlite3_stmt *q = p->sql[HPUT_FLOW];
    bool own = p->first_flow == row->flow && p->first_lsn == row->lsn;
    (void)sqlite3_bind_int64(q, 1, (int64_t)row->flow);
    (void)sqlite3_bind_int64(q, 2, (int64_t)row->lsn);
    hdb_bind_text(q, 3, row->tenant);
    hdb_bind_text(q, 4, row->name);
    hdb_bind_text(q, 5, row->state);
    (void)sqlite3_bind_int64(q, 6, row->created_ms);
    (void)sqlite3_bind_int64(q, 7, row->finished_ms);
    hdb_bind_text(q, 8, row->labels);
    hdb_bind_blob(q, 9, row->head);
    (void)sqlite3_bind_int64(q, 10, own ? p->part_count : 0);
    (void)sqlite3_bind_int64(q, 11, bytes);
    if (own) hdb_bind_blob(q, 12, buf_slice(&p->first));
    hdb_bind_text(q, 13, row->schedule);
    bool parts = own && p->part_count > 1;
    p->first_flow = 0;
    enum err e = run(p, HPUT_FLOW, why);
    if (e != ERR_OK || !parts) return e;
    (void)sqlite3_bind_int64(p->sql[HPUT_PART_STALE], 2, (int64_t)row->lsn);
    return run_for(p, HPUT_PART_STALE, row->flow, why);
}

enum err hput_row(struct hput *p, const struct history_row *row, struct why *why) {
    bool known = false;
    sqlite3_stmt *q = p->sql[HPUT_KNOWN];
    (void)sqlite3_bind_int64(q, 1, (int64_t)row->flow);
    enum err e = hdb_step(&p->db, q, &known, why);
    bool is_old = e == ERR_OK && known && (uint64_t)sqlite3_column_int64(q, 0) > row->lsn;
    int64_t bytes_before = e == ERR_OK && known ? sqlite3_column_int64(q, 1) : 0;
    (void)sqlite3_reset(q);
    if (e != ERR_OK || is_old) return e;
    int64_t bytes = bytes_of(p, row, p->first_flow == row->flow && p->first_lsn == row->lsn);
    e = put_words(p, row, known, why);
    if (e == ERR_OK) e = put_flow(p, row, bytes, why);
    p->flows_added += !known;
    p->bytes_added += bytes - bytes_before;
    return e;
}

enum err hput_reach(struct hput *p, uint64_t lsn, struct why *why) {
    int64_t known = 0;
    enum err e = hdb_meta_get(&p->db, "lsn", &known, why);
    if (e != ERR_OK || (uint64_t)known >= lsn) return e;
    return hdb_meta_set(&p->db, "lsn", (int64_t)lsn, why);
}

/* ---- leaving ---- */

static enum err remove_flow(struct hput *p, uint64_t flow, struct why *why) {
    enum err e = run_for(p, HPUT_WORD_DELETE, flow, why);
    if (e == ERR_OK) e = run_for(p, HPUT_PART_DELETE, flow, why);
    if (e == ERR_OK) e = run_for(p, HPUT_FLOW_DELETE, flow, why);
    p->flows_added--;
    return e;
}

/* Those that finished before that time; or the oldest, until so many bytes are freed. */
static enum err remove_oldest(struct hput *p, int64_t before_ms, int64_t bytes_over, uint32_t *ret_removed,
                              struct why *why) {
    uint64_t flows[TRIM_FLOWS];
    uint32_t count = 0;
    int64_t bytes = 0;
    if (bytes_over > 0) before_ms = INT64_MAX;
    sqlite3_stmt *q = p->sql[HPUT_OLDEST];
    (void)sqlite3_bind_int64(q, 1, before_ms);
    (void)sqlite3_bind_int64(q, 2, TRIM_FLOWS);
    enum err e = ERR_OK;
    for (bool row = true; e == ERR_OK && row && count < TRIM_FLOWS && (bytes_over == 0 || bytes < bytes_over);) {
        e = hdb_step(&p->db, q, &row, why);
        if (e != ERR_OK || !row) break;
        flows[count++] = (uint64_t)sqlite3_column_int64(q, 0);
        bytes += sqlite3_column_int64(q, 1);
    }
    (void)sqlite3_reset(q);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) e = remove_flow(p, flows[i], why);
    p->bytes_added -= bytes;
    *ret_removed = count;
    return e;
}

enum err hput_trim(struct hput *p, int64_t before_ms, uint64_t bytes_max, uint32_t *ret_removed, bool *ret_more,
                   struct why *why) {
    uint64_t flows = 0, bytes = 0;
    *ret_removed = 0;
    *ret_more = false;
    enum err e = hdb_size(&p->db, &flows, &bytes, why);
    if (e != ERR_OK) return e;
    int64_t over = bytes_max != 0 && bytes > bytes_max ? (int64_t)(bytes - bytes_max) : 0;
    e = hput_begin(p, why);
    if (e == ERR_OK) e = remove_oldest(p, before_ms, over, ret_removed, why);
    if (e != ERR_OK) {
        hput_rollback(p);
        return e;
    }
    e = hput_commit(p, why);
    /* pages that are free go back to the disk, a few at a time */
    if (e == ERR_OK && *ret_removed > 0) e = hdb_run(&p->db, "PRAGMA incremental_vacuum(1000)", why);
    *ret_more = *ret_removed == TRIM_FLOWS || (over > 0 && *ret_removed > 0); /* by size, then by age */
    return e;
}
