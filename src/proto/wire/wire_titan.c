/* wire_titan.c: the tables behind wire_titan.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_titan.h"

static const char *const what_words[] = {"jobs", "worker", "stats", "stats_json", "services", "dags", "dag"};

/* clang-format off */
static const struct tlv_field titan_name_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_titan_name, id, .max = WIRE_TITAN_ID_MAX),
};
const struct tlv_desc wire_titan_name_desc = TLV_DESC("titan_name", wire_titan_name, titan_name_fields);

static const struct tlv_field titan_get_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_titan_get, what, .max = WIRE_TITAN_WHAT_COUNT, .names = what_words),
    TLV_FIELD(2, TLV_LIST, wire_titan_get, names, .max = WIRE_TITAN_NAMES_MAX, .sub = &wire_titan_name_desc),
};
const struct tlv_desc wire_titan_get_desc = TLV_DESC("titan_get", wire_titan_get, titan_get_fields);

static const struct tlv_field titan_job_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_titan_job, id, .max = WIRE_TITAN_ID_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_titan_job, target, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_titan_job, status, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_U32, wire_titan_job, attempts),
    TLV_FIELD(5, TLV_TEXT, wire_titan_job, service, .max = WIRE_NAME_MAX),
    TLV_FIELD(6, TLV_TEXT, wire_titan_job, log, .max = WIRE_TEXT_MAX),
    TLV_FIELD(7, TLV_TEXT, wire_titan_job, note, .max = WIRE_TITAN_NOTE_MAX),
    TLV_FIELD(8, TLV_BYTES, wire_titan_job, dag, .max = WIRE_TITAN_ID_MAX),
    TLV_FIELD(9, TLV_BYTES, wire_titan_job, run, .max = WIRE_TITAN_ID_MAX),
};
const struct tlv_desc wire_titan_job_desc = TLV_DESC("titan_job", wire_titan_job, titan_job_fields);

static const struct tlv_field titan_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_titan, lsn),
    TLV_FIELD(2, TLV_LIST, wire_titan, jobs, .max = WIRE_TITAN_NAMES_MAX, .sub = &wire_titan_job_desc),
    TLV_FIELD(3, TLV_BYTES, wire_titan, text, .max = WIRE_TITAN_STATS_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_titan, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_U32, wire_titan, services),
};
const struct tlv_desc wire_titan_desc = TLV_DESC("titan", wire_titan, titan_fields);
/* clang-format on */
