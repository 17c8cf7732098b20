/* hdb.h: one connection to the history's file. The schema is normative in docs/formats/history.md.
 *
 * Guarantees: a file that is none of ours, damaged, or of a later schema is told as ERR_CORRUPT (so that it can be set
 * aside) or ERR_UNSUPPORTED; a full disk as ERR_NO_SPACE; nothing half done survives any of them. */
#ifndef REEVE_HDB_H
#define REEVE_HDB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "slice.h"

#define HDB_PATH_MAX 600u
#define HDB_SCHEMA 1

enum hdb_mode { HDB_WRITE, HDB_READ };

struct hdb {
    sqlite3 *db;
};

/* `path` is the file. HDB_WRITE makes it when it is not there, and checks or writes its schema. */
CHECKED enum err hdb_open(struct hdb *d, const char *path, enum hdb_mode mode, struct why *why);
void hdb_close(struct hdb *d);
/* Takes a file that cannot be used out of the way; `ret_to` says where it is now. */
CHECKED enum err hdb_set_aside(const char *path, int64_t wall_ms, char ret_to[HDB_PATH_MAX], struct why *why);

CHECKED enum err hdb_run(struct hdb *d, const char *sql, struct why *why);
CHECKED enum err hdb_prepare(struct hdb *d, const char *sql, sqlite3_stmt **ret, struct why *why);
/* One step: *ret_row says whether there is a row. */
CHECKED enum err hdb_step(struct hdb *d, sqlite3_stmt *q, bool *ret_row, struct why *why);
/* The last failure of the connection, as ours. */
enum err hdb_error(struct hdb *d, int code, struct why *why);

void hdb_bind_text(sqlite3_stmt *q, int at, struct slice text);
void hdb_bind_blob(sqlite3_stmt *q, int at, struct slice bytes);
struct slice hdb_column(sqlite3_stmt *q, int at); /* valid until the next step */

/* Facts about the whole: table meta. 0 when it is not there. */
CHECKED enum err hdb_meta_get(struct hdb *d, const char *key, int64_t *ret, struct why *why);
CHECKED enum err hdb_meta_set(struct hdb *d, const char *key, int64_t value, struct why *why);
/* Rows of the table `flow`, and about what they take of the file: the sum of their `bytes`. Not the size of the file:
 * an index of words shrinks long after its rows have gone. */
CHECKED enum err hdb_size(struct hdb *d, uint64_t *ret_flows, uint64_t *ret_bytes, struct why *why);

CHECKED enum err hdb_oldest(struct hdb *d, uint64_t *ret, struct why *why); /* number of a flow; 0 = none */

#endif
