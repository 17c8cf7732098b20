/* wire_test.c: the table of messages keeps its own rules, and means by its numbers what the core means by its own. */
#include <stdio.h>

#include "test.h"

#include "record.h"
#include "wire.h"

/* ---- the table of opcodes ---- */

static void requests_are_answered_by_the_server(void **state) {
    (void)state;
    for (int op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (!info || info->answer == 0) continue;
        const struct wire_info *answer = wire_info(info->answer);
        assert_non_null(answer);
        assert_int_equal(answer->answer, 0);
        assert_int_not_equal(info->sender, WIRE_FROM_SERVER);
        assert_true(answer->sender == WIRE_FROM_SERVER || op == WIRE_PING);
    }
}

static void words_are_unique(void **state) {
    (void)state;
    assert_null(wire_info(0));
    assert_string_equal(wire_word(0), "unknown");
    for (int a = 0; a < 256; a++) {
        if (!wire_info((uint8_t)a)) continue;
        for (int b = 0; b < a; b++) assert_string_not_equal(wire_word((uint8_t)a), wire_word((uint8_t)b));
    }
}

/* What is sent on one connection in an order that matters must not overtake: log before done. */
static void log_and_end_share_a_lane(void **state) {
    (void)state;
    assert_int_equal(wire_info(WIRE_LOG)->lane, wire_info(WIRE_DONE)->lane);
    assert_int_equal(wire_info(WIRE_STARTED)->lane, wire_info(WIRE_DONE)->lane);
    assert_int_equal(wire_info(WIRE_HEARTBEAT)->lane, WIRE_LANE_FIRST);
    assert_int_equal(wire_info(WIRE_VERDICT)->lane, WIRE_LANE_FIRST);
    assert_int_equal(wire_info(WIRE_SUBMIT)->lane, WIRE_LANE_SECOND);
}

/* ---- the tables of fields ---- */

static size_t size_of(enum tlv_type type, const struct tlv_field *f) {
    switch (type) {
    case TLV_BOOL:
    case TLV_U8:
    case TLV_ENUM: return 1;
    case TLV_U16: return 2;
    case TLV_U32: return 4;
    case TLV_U64:
    case TLV_I64: return 8;
    case TLV_TEXT:
    case TLV_BYTES:
    case TLV_HASH:
    case TLV_RAW: return sizeof(struct slice);
    case TLV_U32S: return sizeof(struct tlv_u32s);
    case TLV_LIST: return sizeof(struct tlv_list);
    case TLV_MSG: return f->sub->size;
    }
    return 0;
}

/* A table that names a member with another width, or leaves one out, shows as an overlap or a gap. */
static void check_layout(const struct tlv_desc *d) {
    size_t end = 0;
    for (uint32_t done = 0; done < d->field_count; done++) {
        const struct tlv_field *next = NULL; /* by offset */
        for (uint32_t i = 0; i < d->field_count; i++) {
            const struct tlv_field *f = &d->fields[i];
            bool is_raw = f->type == TLV_RAW && f->tag == 0 && i + 1 == d->field_count;
            if (!is_raw && (i > 0 ? f->tag <= f[-1].tag : f->tag != 1))
                fail_msg("%s.%s: tag %u", d->name, f->name, f->tag);
            if (f->offset >= end && (!next || f->offset < next->offset)) next = f;
        }
        if (!next) fail_msg("%s: two fields overlap", d->name);
        size_t size = size_of(next->type, next);
        if (next->offset - end >= 8 || (next->offset - end >= size && size < 8))
            fail_msg("%s: a member before %s is not described", d->name, next->name);
        end = next->offset + size;
        if (next->type == TLV_LIST || next->type == TLV_MSG) check_layout(next->sub);
        if (next->type == TLV_ENUM)
            for (uint32_t i = 0; i < next->max; i++) assert_non_null(next->names[i]);
    }
    if (end > d->size || (d->field_count && d->size - end >= 8))
        fail_msg("%s: a member at its end is not described", d->name);
}

static void tables_describe_their_structs(void **state) {
    (void)state;
    for (int op = 0; op < 256; op++)
        if (wire_info((uint8_t)op)) check_layout(wire_info((uint8_t)op)->desc);
    check_layout(&wire_run_desc);
}

/* ---- the same words as in the core ---- */

static const struct tlv_field *field_of(const struct tlv_desc *d, const char *name) {
    for (uint32_t i = 0; i < d->field_count; i++)
        if (strcmp(d->fields[i].name, name) == 0) return &d->fields[i];
    fail_msg("%s has no field %s", d->name, name);
    return NULL;
}

static void numbers_mean_what_they_mean_in_the_core(void **state) {
    (void)state;
    const struct {
        const struct tlv_desc *wire, *core;
        const char *wire_field, *core_field;
    } pairs[] = {
        {&wire_options_desc, &options_desc, "kind", "kind"},
        {&wire_options_desc, &options_desc, "on_upstream", "on_upstream"},
        {&wire_verdict_desc, record_desc(REC_VERDICT), "verdict", "verdict"},
        {&wire_pause_desc, record_desc(REC_PAUSED), "scope", "scope"},
        {&wire_pool_desc, record_desc(REC_POOL), "state", "state"},
        {&wire_limit_desc, record_desc(REC_LIMIT), "kind", "kind"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct tlv_field *wire = field_of(pairs[i].wire, pairs[i].wire_field);
        const struct tlv_field *core = field_of(pairs[i].core, pairs[i].core_field);
        uint32_t common = wire->max < core->max ? wire->max : core->max; /* either may have learnt more */
        assert_true(common > 1);
        for (uint32_t n = 0; n < common; n++) {
            /* people say another */
            const char *first = wire->form == TLV_FORM_RENAMED ? wire->names[wire->max + n] : NULL;
            assert_string_equal(first != NULL ? first : wire->names[n], core->names[n]);
        }
    }
}

/* ---- frames ---- */

static void unknown_opcodes_are_told(void **state) {
    (void)state;
    struct frame frame = {.opcode = 15};
    struct why why;
    assert_int_equal(wire_take(&frame, NULL, NULL, &why), ERR_UNSUPPORTED);
    assert_string_equal(why.text, "opcode 15 is not known");
}

static void a_refusal_names_message_and_field(void **state) {
    (void)state;
    struct frame frame = {.opcode = WIRE_HELLO, .body = SLICE("\x06\x09")}; /* tag 3: peer 9 */
    struct wire_hello hello;
    struct why why;
    assert_int_equal(wire_take(&frame, NULL, &hello, &why), ERR_INVALID);
    assert_string_equal(why.text, "hello: hello.peer: not a value of this field");
}

static void a_message_without_fields_has_no_body(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    wire_put(&out, WIRE_STATS, 0, 3, &(struct wire_empty){0});
    assert_int_equal(out.len, FRAME_HEADER_BYTES);
    struct slice in = buf_slice(&out);
    struct frame frame;
    struct wire_empty empty;
    size_t need;
    struct why why;
    assert_int_equal(frame_take(&in, 0, &frame, &need, &why), ERR_OK);
    assert_int_equal(wire_take(&frame, NULL, &empty, &why), ERR_OK);
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_by_the_server),
        cmocka_unit_test(words_are_unique),
        cmocka_unit_test(log_and_end_share_a_lane),
        cmocka_unit_test(tables_describe_their_structs),
        cmocka_unit_test(numbers_mean_what_they_mean_in_the_core),
        cmocka_unit_test(unknown_opcodes_are_told),
        cmocka_unit_test(a_refusal_names_message_and_field),
        cmocka_unit_test(a_message_without_fields_has_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
