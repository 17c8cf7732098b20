/* wire_playground.c: the tables behind wire_playground.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_playground.h"

static const char *const kill_switch_words[] = {"kill", "recover"};

/* clang-format off */
static const struct tlv_field recovery_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_recovery, records),
    TLV_FIELD(2, TLV_U64, wire_recovery, flows),
    TLV_FIELD(3, TLV_U64, wire_recovery, jobs),
    TLV_FIELD(4, TLV_U32, wire_recovery, attempts_open),
    TLV_FIELD(5, TLV_U32, wire_recovery, attempts_adopted),
    TLV_FIELD(6, TLV_U32, wire_recovery, attempts_again),
    TLV_FIELD(7, TLV_U64, wire_recovery, lost),
    TLV_FIELD(8, TLV_I64, wire_recovery, took_ms),
    TLV_FIELD(9, TLV_U64, wire_recovery, replayed_lsn),
};
const struct tlv_desc wire_recovery_desc = TLV_DESC("recovery", wire_recovery, recovery_fields);

static const struct tlv_field playground_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_playground, server, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U32, wire_playground, pid),
    TLV_FIELD(3, TLV_I64, wire_playground, since_ms),
    TLV_FIELD(4, TLV_I64, wire_playground, restart_in_ms),
    TLV_FIELD(5, TLV_U32, wire_playground, kills),
    TLV_FIELD(6, TLV_BOOL, wire_playground, recovered),
    TLV_FIELD(7, TLV_MSG, wire_playground, recovery, .sub = &wire_recovery_desc),
};
const struct tlv_desc wire_playground_desc = TLV_DESC("playground", wire_playground, playground_fields);

static const struct tlv_field playground_do_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_playground_do, what, .max = WIRE_PLUG_COUNT, .names = kill_switch_words),
};
const struct tlv_desc wire_playground_do_desc = TLV_DESC("playground_do", wire_playground_do, playground_do_fields);
/* clang-format on */

static void put_number(struct json *j, const char *key, uint64_t v) {
    json_key(j, key);
    json_u64(j, v);
}

void wire_playground_json(struct json *j, const struct wire_playground *p) {
    const struct wire_recovery *r = &p->recovery;
    json_object(j);
    json_key(j, "server");
    json_text(j, p->server);
    if (p->pid != 0) put_number(j, "pid", p->pid);
    put_number(j, "since_ms", (uint64_t)p->since_ms);
    if (p->restart_in_ms > 0) put_number(j, "restart_in_ms", (uint64_t)p->restart_in_ms);
    put_number(j, "kills", p->kills);
    if (p->recovered) {
        json_key(j, "recovery");
        json_object(j);
        put_number(j, "records", r->records);
        put_number(j, "flows", r->flows);
        put_number(j, "jobs", r->jobs);
        put_number(j, "attempts_open", r->attempts_open);
        put_number(j, "attempts_adopted", r->attempts_adopted);
        put_number(j, "attempts_again", r->attempts_again);
        put_number(j, "lost", r->lost);
        put_number(j, "took_ms", (uint64_t)r->took_ms);
        put_number(j, "replayed_lsn", r->replayed_lsn);
        json_object_end(j);
    }
    json_object_end(j);
}
