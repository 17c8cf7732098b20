/* hdb.c: see hdb.h. */
#include "hdb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hword.h"
#include "panic.h"

#define APPLICATION_ID 0x52454548 /* "REEH" */
#define BUSY_MS 60000             /* a writer waits for the other one; a transaction takes far less */

/* Columns may be added behind, indices at will; anything else is another HDB_SCHEMA. */
#define SCHEDULE_COLUMN                                              \
    "ALTER TABLE flow ADD COLUMN schedule TEXT NOT NULL DEFAULT '';" \
    "CREATE INDEX flow_schedule ON flow(schedule, id) WHERE schedule <> '';"

static const char schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE flow(id INTEGER PRIMARY KEY, lsn INTEGER NOT NULL, tenant TEXT NOT NULL, name TEXT NOT NULL,"
    " state TEXT NOT NULL, created_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL, labels TEXT NOT NULL,"
    " head BLOB NOT NULL, parts INTEGER NOT NULL, bytes INTEGER NOT NULL, jobs BLOB);"
    "CREATE INDEX flow_state ON flow(state, id);"
    "CREATE INDEX flow_finished ON flow(finished_ms);"
    "CREATE INDEX flow_tenant ON flow(tenant, id) WHERE tenant <> 'default';"
    "CREATE TABLE part(flow INTEGER NOT NULL, lsn INTEGER NOT NULL, number INTEGER NOT NULL, jobs BLOB NOT NULL,"
    " PRIMARY KEY(flow, lsn, number));"
    "CREATE VIRTUAL TABLE word USING fts5(name, jobs, labels, errors, columnsize=0,"
    " tokenize='unicode61 remove_diacritics 2');" SCHEDULE_COLUMN;

enum err hdb_error(struct hdb *d, int code, struct why *why) {
    const char *text = d->db != NULL ? sqlite3_errmsg(d->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_FULL: return why_set(why, ERR_NO_SPACE, "history: %s", text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return why_set(why, ERR_CORRUPT, "history: %s", text);
    case SQLITE_READONLY: /* nobody but us makes it so, by moving a damaged file away */
        return why_set(why, ERR_BUSY, "history: it was damaged and is being rebuilt");
    default: return why_set(why, ERR_IO, "history: %s", text);
    }
}

enum err hdb_run(struct hdb *d, const char *sql, struct why *why) {
    int code = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ERR_OK : hdb_error(d, code, why);
}

enum err hdb_prepare(struct hdb *d, const char *sql, sqlite3_stmt **ret, struct why *why) {
    int code = sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    return code == SQLITE_OK ? ERR_OK : hdb_error(d, code, why);
}

enum err hdb_step(struct hdb *d, sqlite3_stmt *q, bool *ret_row, struct why *why) {
    int code = sqlite3_step(q);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return hdb_error(d, code, why);
    *ret_row = code == SQLITE_ROW;
    return ERR_OK;
}

void hdb_bind_text(sqlite3_stmt *q, int at, struct slice text) {
    ENSURE(sqlite3_bind_text64(q, at, slice_data(text), text.len, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
}

void hdb_bind_blob(sqlite3_stmt *q, int at, struct slice bytes) {
    ENSURE(sqlite3_bind_blob64(q, at, slice_data(bytes), bytes.len, SQLITE_STATIC) == SQLITE_OK);
}

struct slice hdb_column(sqlite3_stmt *q, int at) {
    const void *bytes = sqlite3_column_blob(q, at);
    int len = sqlite3_column_bytes(q, at);
    return slice_of(bytes, bytes != NULL && len > 0 ? (size_t)len : 0);
}

/* The one number that a statement without parameters gives. */
static enum err number_of(struct hdb *d, const char *sql, int64_t *ret, struct why *why) {
    sqlite3_stmt *q = NULL;
    bool row = false;
    enum err e = hdb_prepare(d, sql, &q, why);
    if (e == ERR_OK) e = hdb_step(d, q, &row, why);
    if (e == ERR_OK) *ret = row ? sqlite3_column_int64(q, 0) : 0;
    (void)sqlite3_finalize(q);
    return e;
}

enum err hdb_meta_get(struct hdb *d, const char *key, int64_t *ret, struct why *why) {
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT value FROM meta WHERE key = '%s'", key);
    return number_of(d, sql, ret, why);
}

enum err hdb_meta_set(struct hdb *d, const char *key, int64_t value, struct why *why) {
    char sql[160];
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO meta(key, value) VALUES('%s', %lld)", key, (long long)value);
    return hdb_run(d, sql, why);
}

enum err hdb_size(struct hdb *d, uint64_t *ret_flows, uint64_t *ret_bytes, struct why *why) {
    int64_t flows = 0, bytes = 0;
    enum err e = hdb_meta_get(d, "flows", &flows, why);
    if (e == ERR_OK) e = hdb_meta_get(d, "bytes", &bytes, why);
    if (e != ERR_OK) return e;
    *ret_flows = (uint64_t)flows;
    *ret_bytes = (uint64_t)bytes;
    return ERR_OK;
}

enum err hdb_oldest(struct hdb *d, uint64_t *ret, struct why *why) {
    int64_t id = 0;
    enum err e = number_of(d, "SELECT min(id) FROM flow", &id, why);
    if (e == ERR_OK) *ret = (uint64_t)id;
    return e;
}

/* Ours, of a schema that we know. A new file has neither. */
static enum err schema_check(struct hdb *d, bool *ret_new, struct why *why) {
    int64_t application = 0, version = 0, pages = 0, position = 0;
    enum err e = number_of(d, "PRAGMA application_id", &application, why);
    if (e == ERR_OK) e = number_of(d, "PRAGMA user_version", &version, why);
    if (e == ERR_OK) e = number_of(d, "PRAGMA page_count", &pages, why);
    if (e != ERR_OK) return e;
    *ret_new = application == 0 && version == 0 && pages <= 1;
    if (*ret_new) return ERR_OK;
    if (application != APPLICATION_ID) return why_set(why, ERR_CORRUPT, "history: not a history file of reeve");
    if (version > HDB_SCHEMA)
        return why_set(
            why, ERR_UNSUPPORTED,
            "history: the file has schema %lld, this program knows up to %d: move it away, and it is rebuilt",
            (long long)version, HDB_SCHEMA);
    e = hdb_meta_get(d, "lsn", &position, why); /* a table that is not there is damage */
    return e == ERR_IO ? ERR_CORRUPT : e;
}

static enum err schema_make(struct hdb *d, struct why *why) {
    char sql[120];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID, HDB_SCHEMA);
    enum err e = hdb_run(d, "BEGIN IMMEDIATE", why);
    if (e == ERR_OK) e = hdb_run(d, schema, why);
    if (e == ERR_OK) e = hdb_run(d, sql, why);
    if (e == ERR_OK) e = hdb_run(d, "COMMIT", why);
    return e;
}

/* Of a file that an earlier program made. */
static enum err schema_grow(struct hdb *d, struct why *why) {
    int64_t count = 0;
    enum err e = number_of(d, "SELECT count(*) FROM pragma_table_info('flow') WHERE name = 'schedule'", &count, why);
    if (e != ERR_OK || count > 0) return e;
    e = hdb_run(d, "BEGIN IMMEDIATE", why);
    if (e == ERR_OK) e = hdb_run(d, SCHEDULE_COLUMN, why);
    if (e == ERR_OK) e = hdb_run(d, "COMMIT", why);
    return e;
}

/* WAL: readers do not wait for the writer. FULL: a commit is synced, because flows leave memory by its word. */
static const char settings_write[] =
    "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192;"
    "PRAGMA temp_store = MEMORY;";

static const char settings_read[] =
    "PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;" HWORD_SETUP "PRAGMA query_only = 1;";

enum err hdb_open(struct hdb *d, const char *path, enum hdb_mode mode, struct why *why) {
    bool is_new = false;
    int flags = mode == HDB_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    d->db = NULL;
    int code = sqlite3_open_v2(path, &d->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    enum err e = code == SQLITE_OK ? ERR_OK : hdb_error(d, code, why);
    if (e == ERR_OK) {
        (void)sqlite3_busy_timeout(d->db, BUSY_MS);
        e = hdb_run(d, mode == HDB_WRITE ? settings_write : settings_read, why);
    }
    if (e == ERR_OK && mode == HDB_WRITE) e = schema_check(d, &is_new, why);
    if (e == ERR_OK && is_new) e = schema_make(d, why);
    if (e == ERR_OK && mode == HDB_WRITE) e = schema_grow(d, why);
    if (e != ERR_OK) hdb_close(d);
    return e;
}

void hdb_close(struct hdb *d) {
    if (d->db != NULL) ENSURE(sqlite3_close(d->db) == SQLITE_OK); /* every statement was finalised */
    d->db = NULL;
}

enum err hdb_set_aside(const char *path, int64_t wall_ms, char ret_to[HDB_PATH_MAX], struct why *why) {
    char from[HDB_PATH_MAX];
    snprintf(ret_to, HDB_PATH_MAX, "%s.bad-%lld", path, (long long)wall_ms);
    if (rename(path, ret_to) != 0) return why_set(why, ERR_IO, "history: %s: %s", path, strerrordesc_np(errno));
    for (uint32_t i = 0; i < 2; i++) { /* what belongs to it means nothing to a new file */
        snprintf(from, sizeof from, "%s%s", path, i == 0 ? "-wal" : "-shm");
        (void)unlink(from);
    }
    return ERR_OK;
}
