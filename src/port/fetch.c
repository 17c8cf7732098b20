/* fetch.c: see fetch.h. */
#include "fetch.h"

#include "tlv.h"

static const struct tlv_field spec_fields[] = {
    TLV_FIELD(1, TLV_TEXT, fetch_spec, url, .max = FETCH_URL_MAX),
    TLV_FIELD(2, TLV_BYTES, fetch_spec, form, .max = FETCH_FORM_MAX),
    TLV_FIELD(3, TLV_BYTES, fetch_spec, authorization, .max = FETCH_URL_MAX),
    TLV_FIELD(4, TLV_BYTES, fetch_spec, ca, .max = FETCH_CA_MAX),
    TLV_FIELD(5, TLV_U32, fetch_spec, timeout_ms),
    TLV_FIELD(6, TLV_U32, fetch_spec, bytes_max),
    TLV_FIELD(7, TLV_BOOL, fetch_spec, is_public),
};
static const struct tlv_desc spec_desc = TLV_DESC("fetch_spec", fetch_spec, spec_fields);

static const struct tlv_field fetched_fields[] = {
    TLV_FIELD(1, TLV_U32, fetched, status),
    TLV_FIELD(2, TLV_I64, fetched, max_age_s),
    TLV_FIELD(3, TLV_I64, fetched, date_ms),
    TLV_FIELD(4, TLV_BYTES, fetched, body, .max = FETCH_BODY_MAX),
    TLV_FIELD(5, TLV_BYTES, fetched, problem, .max = 1024),
};
static const struct tlv_desc fetched_desc = TLV_DESC("fetched", fetched, fetched_fields);

void fetch_spec_put(struct buf *out, const struct fetch_spec *spec) {
    tlv_encode(&spec_desc, spec, out);
}

enum err fetch_spec_take(struct slice in, struct arena *arena, struct fetch_spec *ret, struct why *why) {
    return tlv_decode(&spec_desc, in, TLV_STRICT, arena, ret, why);
}

void fetched_put(struct buf *out, const struct fetched *f) {
    tlv_encode(&fetched_desc, f, out);
}

enum err fetched_take(struct slice in, struct arena *arena, struct fetched *ret, struct why *why) {
    return tlv_decode(&fetched_desc, in, TLV_STRICT, arena, ret, why);
}
