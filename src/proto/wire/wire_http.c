/* wire_http.c: the tables behind wire_http.h. Bodies of jobs are in journals, so these tags live as long as those. */
#include "wire_http.h"

/* clang-format off */
static const struct tlv_field arg_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_arg, text, .max = WIRE_VALUE_MAX),
};
const struct tlv_desc wire_arg_desc = TLV_DESC("arg", wire_arg, arg_fields);

static const struct tlv_field span_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_span, from),
    TLV_FIELD(2, TLV_U32, wire_span, to),
};
const struct tlv_desc wire_span_desc = TLV_DESC("span", wire_span, span_fields);

static const struct tlv_field http_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_http, url, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_http, method, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_LIST, wire_http, headers, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(4, TLV_BYTES, wire_http, body, .max = WIRE_VALUE_MAX),
    TLV_FIELD(5, TLV_BOOL, wire_http, is_json),
    TLV_FIELD(6, TLV_LIST, wire_http, expect, .max = 64, .sub = &wire_span_desc),
    TLV_FIELD(7, TLV_TEXT, wire_http, save, .max = WIRE_TEXT_MAX),
    TLV_FIELD(8, TLV_U64, wire_http, bytes_max),
    TLV_FIELD(9, TLV_U32, wire_http, timeout_ms),
    TLV_FIELD(10, TLV_U32, wire_http, redirects),
    TLV_FIELD(11, TLV_TEXT, wire_http, ca, .max = WIRE_TEXT_MAX),
    TLV_FIELD(12, TLV_BOOL, wire_http, allow_private),
};
const struct tlv_desc wire_http_desc = TLV_DESC("http", wire_http, http_fields);

static const struct tlv_field step_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_step, argv, .max = 4096, .sub = &wire_arg_desc),
    TLV_FIELD(2, TLV_TEXT, wire_step, shell, .max = WIRE_VALUE_MAX),
    TLV_FIELD(3, TLV_LIST, wire_step, http, .max = 1, .sub = &wire_http_desc),
    TLV_FIELD(4, TLV_TEXT, wire_step, until, .max = WIRE_TEXT_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_step, failed, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_step_desc = TLV_DESC("step", wire_step, step_fields);
/* clang-format on */
