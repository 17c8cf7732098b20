/* audit_line.c: the lines of an export; see audit_export.h. Names of members are format: docs/formats/proof.md, and
 * docs/guides/audit.md for events of OCSF. */
#include <stdio.h>
#include <time.h>

#include "audit_export.h"
#include "audit_verb.h"
#include "hex.h"
#include "ids.h"

#define OCSF_VERSION "1.3.0"

static void pair(struct json *j, const char *key, const char *value) {
    json_key_own(j, key);
    json_str(j, value);
}

static void pair_text(struct json *j, const char *key, struct slice value) {
    if (value.len == 0) return;
    json_key_own(j, key);
    json_text(j, value);
}

static void pair_number(struct json *j, const char *key, uint64_t value) {
    json_key_own(j, key);
    json_u64(j, value);
}

static void pair_hex(struct json *j, const char *key, const uint8_t *bytes, size_t len) {
    json_key_own(j, key);
    json_hex(j, slice_of(bytes, len));
}

static void put_time(struct json *j, int64_t time_ms) {
    char text[40];
    struct tm parts;
    time_t seconds = (time_t)(time_ms / 1000);
    gmtime_r(&seconds, &parts);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, sizeof text - len, ".%03lldZ", (long long)(time_ms % 1000));
    pair(j, "time", text);
    json_key_own(j, "time_ms");
    json_i64(j, time_ms);
}

/* ---- evidence ---- */

static void put_jsonl(struct json *j, uint32_t shard, const struct audit_record *r) {
    char object[AUDIT_OBJECT_BYTES];
    audit_object(shard, r, object);
    json_object(j);
    pair(j, "what", "record");
    pair_number(j, "lsn", r->lsn);
    put_time(j, r->time_ms);
    pair_text(j, "principal", r->principal);
    pair_text(j, "tenant", r->tenant);
    pair(j, "verb", audit_verb_of(r->kind)->verb);
    pair(j, "type", record_word(r->kind));
    pair_text(j, "object", slice_str(object));
    pair_text(j, "text", r->text);
}

void audit_line_checkpoint(struct json *j, uint32_t shard, const struct checkpoint *c) {
    json_object(j);
    pair(j, "what", "checkpoint");
    pair_number(j, "shard", shard);
    pair_number(j, "number", c->number);
    pair_number(j, "lsn", c->lsn);
    pair_number(j, "from_lsn", c->from_lsn);
    pair_number(j, "upto_lsn", c->upto_lsn);
    put_time(j, c->time.ms);
    pair_hex(j, "chain", c->chain, sizeof c->chain);
    pair_hex(j, "key", c->key, sizeof c->key);
    pair_hex(j, "signature", c->signature, sizeof c->signature);
}

bool audit_shows_bytes(enum record_kind kind) {
    switch ((int)kind) {
    case REC_DIRECTORY: /* hashes of tokens and login links, encrypted secrets */
    case REC_TOKEN:
    case REC_TICKET:
    case REC_TICKET_SPENT:
    case REC_SECRETS: return false;
    }
    return true;
}

/* ---- OCSF ---- */

static void put_product(struct json *j, uint32_t shard, const struct audit_record *r) {
    char uid[48];
    snprintf(uid, sizeof uid, "%u-%llu", shard, (unsigned long long)r->lsn);
    json_key_own(j, "metadata");
    json_object(j);
    pair(j, "version", OCSF_VERSION);
    pair(j, "uid", uid);
    pair_number(j, "sequence", r->lsn);
    pair(j, "log_name", "audit");
    json_key_own(j, "product");
    json_object(j);
    pair(j, "name", "Reeve");
    pair(j, "vendor_name", "Reeve");
    json_object_end(j);
    json_object_end(j);
}

static void put_actor(struct json *j, const struct audit_record *r) {
    json_key_own(j, "actor");
    json_object(j);
    json_key_own(j, "user");
    json_object(j);
    pair_text(j, "name", r->principal.len > 0 ? r->principal : SLICE("reeve"));
    pair_number(j, "type_id", r->principal.len > 0 ? 1 : 3); /* User, System */
    json_object_end(j);
    json_object_end(j);
}

static void put_object(struct json *j, uint32_t shard, const struct audit_record *r) {
    char object[AUDIT_OBJECT_BYTES];
    audit_object(shard, r, object);
    if (object[0] == 0) return;
    json_key_own(j, "resources");
    json_array(j);
    json_object(j);
    pair(j, "name", object);
    pair(j, "type", audit_verb_of(r->kind)->object);
    pair_text(j, "owner", r->tenant);
    json_object_end(j);
    json_array_end(j);
}

/* What the class asks for beside what all have. */
static void put_class(struct json *j, uint32_t shard, const struct audit_record *r) {
    const struct audit_verb *v = audit_verb_of(r->kind);
    char object[AUDIT_OBJECT_BYTES];
    audit_object(shard, r, object);
    if (v->class == OCSF_LIFECYCLE) {
        json_key_own(j, "app");
        json_object(j);
        pair(j, "name", "reeve");
        pair(j, "vendor_name", "Reeve");
        json_object_end(j);
    } else if (v->class == OCSF_SCHEDULED) {
        json_key_own(j, "job");
        json_object(j);
        pair(j, "name", object);
        json_object_end(j);
    } else {
        json_key_own(j, "api");
        json_object(j);
        pair(j, "operation", v->verb);
        json_key_own(j, "service");
        json_object(j);
        pair(j, "name", "reeve");
        json_object_end(j);
        json_object_end(j);
    }
    json_key_own(j, "src_endpoint");
    json_object(j);
    pair(j, "name", r->principal.len > 0 ? "unknown" : "reeve");
    json_object_end(j);
}

static void put_ocsf(struct json *j, uint32_t shard, const struct audit_record *r) {
    const struct audit_verb *v = audit_verb_of(r->kind);
    json_object(j);
    pair_number(j, "class_uid", v->class);
    pair(j, "class_name", audit_class_name(v->class));
    pair_number(j, "category_uid", v->class / 1000);
    pair_number(j, "activity_id", v->activity);
    pair(j, "activity_name", v->verb);
    pair_number(j, "type_uid", (uint64_t)v->class * 100 + v->activity);
    pair_number(j, "severity_id", 1); /* Informational */
    pair_number(j, "status_id", 1);   /* Success: it was recorded */
    json_key_own(j, "time");
    json_i64(j, r->time_ms);
    put_product(j, shard, r);
    put_actor(j, r);
    put_class(j, shard, r);
    put_object(j, shard, r);
    pair_text(j, "message", r->text);
}

void audit_line_record(struct json *j, uint32_t shard, const struct audit_record *r, bool is_ocsf) {
    if (is_ocsf)
        put_ocsf(j, shard, r);
    else
        put_jsonl(j, shard, r);
}
