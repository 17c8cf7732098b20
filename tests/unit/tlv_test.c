/* tlv_test.c: one value, one encoding; everything else is refused and leaves no trace. */
#include "test.h"

#include "json.h"
#include "tlv.h"

struct point {
    uint32_t x;
    int64_t y;
};

static const struct tlv_field point_fields[] = {
    TLV_FIELD(1, TLV_U32, point, x),
    TLV_FIELD(2, TLV_I64, point, y),
};
static const struct tlv_desc point_desc = TLV_DESC("point", point, point_fields);

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_BLUE, COLOUR_COUNT };
static const char *const colour_names[] = {"none", "red", "blue"};

struct thing {
    bool flag;
    uint8_t small;
    uint16_t medium;
    uint64_t large;
    uint8_t colour;
    struct slice name;
    struct slice body;
    struct slice hash;
    struct tlv_u32s numbers;
    struct point at;
    struct tlv_list points;
    struct slice raw;
};

static const struct tlv_field thing_fields[] = {
    TLV_FIELD(1, TLV_BOOL, thing, flag),
    TLV_FIELD(2, TLV_U8, thing, small),
    TLV_FIELD(3, TLV_U16, thing, medium),
    TLV_FIELD(5, TLV_U64, thing, large),
    TLV_FIELD(6, TLV_ENUM, thing, colour, .max = COLOUR_COUNT, .names = colour_names),
    TLV_FIELD(7, TLV_TEXT, thing, name, .max = 8),
    TLV_FIELD(8, TLV_BYTES, thing, body, .max = 4096),
    TLV_FIELD(9, TLV_HASH, thing, hash),
    TLV_FIELD(10, TLV_U32S, thing, numbers, .max = 100),
    TLV_FIELD(200, TLV_MSG, thing, at, .sub = &point_desc),
    TLV_FIELD(201, TLV_LIST, thing, points, .max = 100, .sub = &point_desc),
    TLV_FIELD(0, TLV_RAW, thing, raw),
};
static const struct tlv_desc thing_desc = TLV_DESC("thing", thing, thing_fields);

static enum err decode(struct slice in, enum tlv_mode mode, struct arena *arena, struct thing *ret) {
    struct why why = {{0}};
    enum err e = tlv_decode(&thing_desc, in, mode, arena, ret, &why);
    assert_true(e == ERR_OK || why.text[0] != 0);
    return e;
}

static uint32_t many_numbers[100];
static struct point many_points[100];
static uint8_t many_bytes[1000];

static struct thing full_thing(void) {
    for (uint32_t i = 0; i < 100; i++) {
        many_numbers[i] = i * i * i * i * 40;
        many_points[i] = (struct point){.x = i % 3 ? i : 0, .y = i % 5 ? -(int64_t)i * 1000000 : 0};
    }
    memset(many_bytes, 0xa5, sizeof many_bytes);
    return (struct thing){
        .flag = true,
        .small = 255,
        .medium = 65535,
        .large = UINT64_MAX,
        .colour = COLOUR_BLUE,
        .name = SLICE("12345678"),
        .body = slice_of(many_bytes, sizeof many_bytes),
        .hash = slice_of(many_bytes, 32),
        .numbers = {many_numbers, 100},
        .at = {7, INT64_MIN},
        .points = {many_points, 100},
    };
}

static void empty_struct_is_empty_bytes(void **state) {
    (void)state;
    struct thing t = {0};
    struct buf out;
    buf_init(&out, 0);
    tlv_encode(&thing_desc, &t, &out);
    assert_int_equal(out.len, 0);
    assert_false(out.full);
    memset(&t, 0xff, sizeof t);
    assert_int_equal(decode(slice_of(NULL, 0), TLV_STRICT, NULL, &t), ERR_OK);
    assert_int_equal(t.large, 0);
    assert_int_equal(t.points.count, 0);
    buf_fini(&out);
}

static void bytes_are_as_documented(void **state) {
    (void)state;
    struct point pair[2] = {{0}, {.x = 300, .y = -1}};
    struct thing t = {.flag = true, .name = SLICE("ab"), .at = {.x = 1}, .points = {pair, 2}};
    struct buf out;
    buf_init(&out, 100);
    tlv_encode(&thing_desc, &t, &out);
    static const uint8_t expected[] = {
        0x02, 1,                         /* tag 1, kind 0: true */
        0x0f, 2,    'a',  'b',           /* tag 7, kind 1 */
        0x91, 0x03, 2,    0x02, 1,       /* tag 200, kind 1: { x = 1 } */
        0x93, 0x03, 8,    2,    0,       /* tag 201, kind 1: two items, the first empty */
        5,    0x02, 0xac, 0x02, 0x04, 1, /* the second: x = 300, y = zigzag(-1) */
    };
    assert_int_equal(out.len, sizeof expected);
    assert_memory_equal(out.at, expected, sizeof expected);
    buf_fini(&out);
}

static void full_struct_round_trips(void **state) {
    (void)state;
    struct thing t = full_thing();
    assert_int_equal(tlv_check(&thing_desc, &t, NULL), ERR_OK);
    struct buf out;
    struct buf again;
    struct arena arena;
    buf_init(&out, 1 << 20);
    buf_init(&again, 1 << 20);
    arena_init(&arena, 256, 1 << 20);
    tlv_encode(&thing_desc, &t, &out);
    struct thing got;
    assert_int_equal(decode(buf_slice(&out), TLV_STRICT, &arena, &got), ERR_OK);
    assert_true(slice_eq(got.raw, buf_slice(&out)));
    assert_ptr_equal(got.raw.ptr, out.at);
    assert_int_equal(got.numbers.at[99], many_numbers[99]);
    assert_int_equal(((struct point *)got.points.at)[99].y, many_points[99].y);
    assert_int_equal(got.at.y, INT64_MIN);
    tlv_encode(&thing_desc, &got, &again);
    assert_true(slice_eq(buf_slice(&again), buf_slice(&out)));
    arena_fini(&arena);
    buf_fini(&again);
    buf_fini(&out);
}

/* Every prefix and every single-byte change either is refused or decodes to something that encodes to itself. */
/* Sizes and places in which the eight bytes that say whether a field is there also hold its neighbours. */
struct crowd {
    uint8_t a, b;
    uint16_t c;
    uint32_t d;
    struct tlv_u32s numbers;
    uint8_t after_numbers; /* padding of 7 bytes up to the next */
    struct slice text;
    uint32_t e;
    uint16_t f;
    bool g;
    uint8_t h;
};

static const struct tlv_field crowd_fields[] = {
    TLV_FIELD(1, TLV_U8, crowd, a),         TLV_FIELD(2, TLV_ENUM, crowd, b, .max = 255),
    TLV_FIELD(3, TLV_U16, crowd, c),        TLV_FIELD(4, TLV_U32, crowd, d),
    TLV_FIELD(5, TLV_U32S, crowd, numbers), TLV_FIELD(6, TLV_U8, crowd, after_numbers),
    TLV_FIELD(7, TLV_TEXT, crowd, text),    TLV_FIELD(8, TLV_U32, crowd, e),
    TLV_FIELD(9, TLV_U16, crowd, f),        TLV_FIELD(10, TLV_BOOL, crowd, g),
    TLV_FIELD(11, TLV_U8, crowd, h),
};
static const struct tlv_desc crowd_desc = TLV_DESC("crowd", crowd, crowd_fields);

/* Where the value of a field is, in bytes of the struct, and how many there are. */
static void value_of(const struct tlv_field *f, size_t *ret_at, size_t *ret_bytes) {
    static const size_t widths[] = {
        [TLV_BOOL] = 1, [TLV_U8] = 1, [TLV_U16] = 2, [TLV_U32] = 4, [TLV_ENUM] = 1, [TLV_TEXT] = 8, [TLV_U32S] = 4};
    *ret_bytes = widths[f->type];
    *ret_at = f->offset + (f->type == TLV_TEXT || f->type == TLV_U32S ? sizeof(void *) : 0);
}

static void neighbours_make_no_field_present(void **state) {
    (void)state;
    for (uint32_t i = 0; i < crowd_desc.field_count; i++) {
        const struct tlv_field *f = &crowd_fields[i];
        uint8_t all[sizeof(struct crowd)], only[sizeof(struct crowd)] = {0};
        size_t at, bytes;
        value_of(f, &at, &bytes);
        memset(all, 0xff, sizeof all); /* padding, too */
        memset(all + at, 0, bytes);
        assert_true(tlv_is_absent(f, all));
        for (size_t k = 0; k < bytes; k++) {
            only[at + k] = 0x80;
            assert_false(tlv_is_absent(f, only));
            only[at + k] = 0;
        }
    }
}

static void no_two_encodings_of_one_value(void **state) {
    (void)state;
    struct thing t = full_thing();
    t.body.len = 3;
    t.numbers.count = 3;
    t.points.count = 4;
    struct buf out;
    struct buf again;
    struct arena arena;
    buf_init(&out, 1 << 20);
    buf_init(&again, 1 << 20);
    arena_init(&arena, 4096, 1 << 20);
    tlv_encode(&thing_desc, &t, &out);
    unsigned accepted = 0;
    for (size_t i = 0; i < out.len * 257; i++) {
        size_t at = i / 257;
        unsigned change = (unsigned)(i % 257);
        struct slice in = change == 256 ? slice_of(out.at, at) : buf_slice(&out);
        uint8_t kept = out.at[at];
        if (change < 256) out.at[at] = (uint8_t)change;
        struct thing got;
        memset(&got, 0x5a, sizeof got);
        if (decode(in, TLV_STRICT, &arena, &got) == ERR_OK) {
            buf_clear(&again);
            tlv_encode(&thing_desc, &got, &again);
            assert_true(slice_eq(buf_slice(&again), in));
            accepted++;
        }
        out.at[at] = kept;
        arena_reset(&arena);
    }
    assert_true(accepted > 100);
    arena_fini(&arena);
    buf_fini(&again);
    buf_fini(&out);
}

struct parcel {
    uint32_t weight;
    struct slice raw;
};
static const struct tlv_field parcel_fields[] = {
    TLV_FIELD(1, TLV_U32, parcel, weight),
    TLV_FIELD(0, TLV_RAW, parcel, raw),
};
static const struct tlv_desc parcel_desc = TLV_DESC("parcel", parcel, parcel_fields);

struct cart {
    struct tlv_list now, later;
};
static const struct tlv_field cart_fields[] = {
    TLV_FIELD(1, TLV_LIST, cart, now, .max = 10, .sub = &parcel_desc),
    TLV_FIELD(2, TLV_LIST, cart, later, .max = 10, .sub = &parcel_desc, .lazy = true),
};
static const struct tlv_desc cart_desc = TLV_DESC("cart", cart, cart_fields);

static void lazy_items_keep_their_bytes(void **state) {
    (void)state;
    struct parcel two[2] = {{.weight = 7}, {.weight = 300}};
    struct cart cart = {.now = {two, 2}, .later = {two, 2}};
    struct buf out;
    struct arena arena;
    buf_init(&out, 1 << 20);
    arena_init(&arena, 4096, 1 << 20);
    tlv_encode(&cart_desc, &cart, &out);
    for (enum tlv_mode mode = TLV_STRICT; mode <= TLV_LAZY; mode++) {
        struct cart got;
        assert_int_equal(tlv_decode(&cart_desc, buf_slice(&out), mode, &arena, &got, NULL), ERR_OK);
        const struct parcel *now = got.now.at;
        const struct parcel *later = got.later.at;
        assert_int_equal(got.later.count, 2);
        assert_int_equal(now[1].weight, 300);
        assert_int_equal(later[1].weight, mode == TLV_LAZY ? 0 : 300);
        assert_true(slice_eq(later[1].raw, now[1].raw));
        struct buf again; /* as they came, looked into or not */
        buf_init(&again, 1 << 20);
        tlv_encode(&cart_desc, &got, &again);
        assert_true(slice_eq(buf_slice(&again), buf_slice(&out)));
        buf_fini(&again);
    }
    out.at[out.len - 1] = 0x80; /* the last number is cut: only who reads it can tell */
    struct cart got;
    assert_int_equal(tlv_decode(&cart_desc, buf_slice(&out), TLV_LAZY, &arena, &got, NULL), ERR_OK);
    struct why why;
    assert_int_equal(tlv_decode(&cart_desc, buf_slice(&out), TLV_STRICT, &arena, &got, &why), ERR_INVALID);
    arena_fini(&arena);
    buf_fini(&out);
}

static void tags_are_seen_without_decoding(void **state) {
    (void)state;
    assert_int_equal(tlv_tags(slice_of(NULL, 0)), 0);
    assert_int_equal(tlv_tags(slice_of("\x02\x05", 2)), 1u << 1);                           /* a number */
    assert_int_equal(tlv_tags(slice_of("\x05\x02\x02\x02\x0e\x01", 6)), 1u << 2 | 1u << 7); /* not what is inside */
    assert_int_equal(tlv_tags(slice_of("\x80\x01\x01\x02\x01", 5)), 1u << 1);               /* 64 is too high to tell */
    assert_int_equal(tlv_tags(slice_of("\x02", 1)), 0);                                     /* cut */
    assert_int_equal(tlv_tags(slice_of("\x02\x05\x05\x03\x01\x01", 6)), 0);                 /* cut later */
}

static void malformed_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *what;
        struct slice in;
        enum err e;
    } cases[] = {
        {"default written out", {(const uint8_t *)"\x02\x00", 2}, ERR_INVALID},
        {"overlong value", {(const uint8_t *)"\x0a\x81\x00", 3}, ERR_INVALID},
        {"overlong key", {(const uint8_t *)"\x82\x00\x01", 3}, ERR_INVALID},
        {"bool of 2", {(const uint8_t *)"\x02\x02", 2}, ERR_INVALID},
        {"u8 of 256", {(const uint8_t *)"\x04\x80\x02", 3}, ERR_INVALID},
        {"enum out of range", {(const uint8_t *)"\x0c\x03", 2}, ERR_INVALID},
        {"text too long",
         {(const uint8_t *)"\x0f\x09"
                           "123456789",
          11},
         ERR_LIMIT},
        {"short hash",
         {(const uint8_t *)"\x13\x01"
                           "a",
          3},
         ERR_INVALID},
        {"same tag twice", {(const uint8_t *)"\x02\x01\x02\x01", 4}, ERR_INVALID},
        {"descending tags", {(const uint8_t *)"\x04\x01\x02\x01", 4}, ERR_INVALID},
        {"tag 0", {(const uint8_t *)"\x00\x01", 2}, ERR_INVALID},
        {"number where bytes belong", {(const uint8_t *)"\x0e\x01", 2}, ERR_INVALID},
        {"bytes where a number belongs",
         {(const uint8_t *)"\x03\x01"
                           "a",
          3},
         ERR_INVALID},
        {"unknown tag", {(const uint8_t *)"\x08\x01", 2}, ERR_UNSUPPORTED},
        {"length beyond the end",
         {(const uint8_t *)"\x0f\x7f"
                           "a",
          3},
         ERR_INVALID},
        {"empty text", {(const uint8_t *)"\x0f\x00", 2}, ERR_INVALID},
        {"empty message", {(const uint8_t *)"\x91\x03\x00", 3}, ERR_INVALID},
        {"list of nothing", {(const uint8_t *)"\x93\x03\x01\x00", 4}, ERR_INVALID},
        {"list count is a lie", {(const uint8_t *)"\x93\x03\x02\x7f\x00", 5}, ERR_INVALID},
        {"list with bytes left", {(const uint8_t *)"\x93\x03\x03\x01\x00\x00", 6}, ERR_INVALID},
    };
    struct arena arena;
    arena_init(&arena, 256, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct thing got;
        enum err e = decode(cases[i].in, TLV_STRICT, &arena, &got);
        if (e != cases[i].e) fail_msg("%s: %s", cases[i].what, err_word(e));
    }
    arena_fini(&arena);
}

static void unknown_fields_are_skipped_when_asked(void **state) {
    (void)state;
    struct thing got;
    struct slice in = SLICE("\x02\x01\x08\x63\x09\x02zz\x0a\x05\x99\x7d\x01");
    /* tag 4 as a number, tag 4 again as bytes would be out of order: so tag 4 once, then 5, then one far beyond */
    assert_int_equal(decode(in, TLV_SKIP_UNKNOWN, NULL, &got), ERR_INVALID);
    in = SLICE("\x02\x01\x09\x02zz\x0a\x05\x98\x7d\x01");
    assert_int_equal(decode(in, TLV_SKIP_UNKNOWN, NULL, &got), ERR_OK);
    assert_true(got.flag);
    assert_int_equal(got.large, 5);
}

static void arena_too_small_is_an_error(void **state) {
    (void)state;
    struct thing t = full_thing();
    struct buf out;
    buf_init(&out, 1 << 20);
    tlv_encode(&thing_desc, &t, &out);
    struct arena arena;
    arena_init(&arena, 64, 512);
    struct thing got;
    assert_int_equal(decode(buf_slice(&out), TLV_STRICT, &arena, &got), ERR_LIMIT);
    arena_fini(&arena);
    buf_fini(&out);
}

/* Whatever the maximum of the buffer: it is full exactly when the message does not fit. */
static void full_buffer_is_marked(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct thing t = full_thing();
        t.body.len = 300;
        if (i == 1) t.at = (struct point){0}, t.points.count = 0; /* a part that is not written must not fill it */
        struct buf whole;
        buf_init(&whole, 1 << 20);
        tlv_encode(&thing_desc, &t, &whole);
        for (size_t max = 0; max <= whole.len; max++) {
            struct buf out;
            buf_init(&out, max);
            tlv_encode(&thing_desc, &t, &out);
            assert_int_equal(out.full, max < whole.len);
            buf_fini(&out);
        }
        buf_fini(&whole);
    }
}

static void check_finds_what_encode_panics_on(void **state) {
    (void)state;
    struct thing bad[] = {
        {.colour = COLOUR_COUNT},         {.name = SLICE("123456789")},   {.hash = SLICE("x")},
        {.numbers = {many_numbers, 101}}, {.points = {many_points, 101}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct why why;
        assert_int_not_equal(tlv_check(&thing_desc, &bad[i], &why), ERR_OK);
        assert_memory_equal(why.text, "thing.", 6);
        struct buf out;
        buf_init(&out, 4096);
        assert_panics(tlv_encode(&thing_desc, &bad[i], &out));
        buf_fini(&out);
    }
}

/* A list of its own kind: the input must not choose how deep we recurse. */
struct tree {
    struct tlv_list children;
};
static const struct tlv_desc tree_desc;
static const struct tlv_field tree_fields[] = {TLV_FIELD(1, TLV_LIST, tree, children, .sub = &tree_desc)};
static const struct tlv_desc tree_desc = TLV_DESC("tree", tree, tree_fields);

static void nesting_is_bounded(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 256, 1 << 20);
    struct tree level[20];
    for (int depth = 1; depth < 20; depth++) {
        level[0] = (struct tree){0};
        for (int i = 1; i < depth; i++) level[i].children = (struct tlv_list){&level[i - 1], 1};
        struct buf out;
        buf_init(&out, 4096);
        tlv_encode(&tree_desc, &level[depth - 1], &out);
        struct tree got;
        enum err e = tlv_decode(&tree_desc, buf_slice(&out), TLV_STRICT, &arena, &got, NULL);
        assert_int_equal(e, depth <= 16 ? ERR_OK : ERR_LIMIT);
        assert_int_equal(tlv_check(&tree_desc, &level[depth - 1], NULL), e);
        buf_fini(&out);
    }
    arena_fini(&arena);
}

static void json_has_the_words(void **state) {
    (void)state;
    uint32_t numbers[] = {1, 2};
    struct point points[] = {{0}, {.x = 1, .y = -2}};
    struct thing t = {
        .flag = true,
        .colour = COLOUR_RED,
        .name = SLICE("n"),
        .body = SLICE("foo"),
        .hash = slice_of(many_bytes, 32),
        .numbers = {numbers, 2},
        .at = {.y = -5},
        .points = {points, 2},
    };
    memset(many_bytes, 0xa5, sizeof many_bytes);
    struct buf out;
    struct json j;
    buf_init(&out, 4096);
    json_init(&j, &out);
    json_object(&j);
    tlv_json(&thing_desc, &t, &j);
    json_object_end(&j);
    buf_put_u8(&out, 0);
    assert_string_equal((char *)out.at, "{\"flag\":true,\"colour\":\"red\",\"name\":\"n\",\"body\":\"Zm9v\",\"hash\":\""
                                        "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\","
                                        "\"numbers\":[1,2],\"at\":{\"y\":-5},\"points\":[{},{\"x\":1,\"y\":-2}]}");
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_struct_is_empty_bytes),
        cmocka_unit_test(bytes_are_as_documented),
        cmocka_unit_test(full_struct_round_trips),
        cmocka_unit_test(neighbours_make_no_field_present),
        cmocka_unit_test(no_two_encodings_of_one_value),
        cmocka_unit_test(lazy_items_keep_their_bytes),
        cmocka_unit_test(tags_are_seen_without_decoding),
        cmocka_unit_test(malformed_is_refused),
        cmocka_unit_test(unknown_fields_are_skipped_when_asked),
        cmocka_unit_test(arena_too_small_is_an_error),
        cmocka_unit_test(full_buffer_is_marked),
        cmocka_unit_test(check_finds_what_encode_panics_on),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(json_has_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
