/* tlv_fuzz.c: whatever the decoder accepts in strict mode must encode to the very bytes it came from. */
#include "json.h"
#include "panic.h"
#include "tlv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct item {
    bool flag;
    uint8_t small;
    uint16_t medium;
    uint32_t number;
    uint64_t large;
    int64_t sign;
    uint8_t word;
    struct slice text;
    struct slice bytes;
    struct slice hash;
    struct tlv_u32s numbers;
    struct tlv_list items;
    struct slice raw;
};

static const char *const words[] = {"none", "one", "two"};
static const struct tlv_desc item_desc;
static const struct tlv_field item_fields[] = {
    TLV_FIELD(1, TLV_BOOL, item, flag),
    TLV_FIELD(2, TLV_U8, item, small),
    TLV_FIELD(3, TLV_U16, item, medium),
    TLV_FIELD(4, TLV_U32, item, number),
    TLV_FIELD(6, TLV_U64, item, large),
    TLV_FIELD(7, TLV_I64, item, sign),
    TLV_FIELD(8, TLV_ENUM, item, word, .max = 3, .names = words),
    TLV_FIELD(9, TLV_TEXT, item, text, .max = 64),
    TLV_FIELD(10, TLV_BYTES, item, bytes, .max = 200),
    TLV_FIELD(11, TLV_HASH, item, hash),
    TLV_FIELD(12, TLV_U32S, item, numbers, .max = 50),
    TLV_FIELD(300, TLV_LIST, item, items, .max = 20, .sub = &item_desc),
    TLV_FIELD(0, TLV_RAW, item, raw),
};
static const struct tlv_desc item_desc = TLV_DESC("item", item, item_fields);

static void check_accepted(const struct item *item, struct slice in) {
    struct buf out;
    buf_init(&out, 1 << 20);
    ENSURE(tlv_check(&item_desc, item, NULL) == ERR_OK);
    tlv_encode(&item_desc, item, &out);
    ENSURE(slice_eq(buf_slice(&out), in));

    struct json j;
    buf_clear(&out);
    json_init(&j, &out);
    json_object(&j);
    tlv_json(&item_desc, item, &j);
    json_object_end(&j);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct slice in = slice_of(data, size);
    struct why why;
    struct item item;
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    if (tlv_decode(&item_desc, in, TLV_STRICT, &arena, &item, &why) == ERR_OK) check_accepted(&item, in);
    (void)!tlv_decode(&item_desc, in, TLV_SKIP_UNKNOWN, &arena, &item, &why);
    arena_fini(&arena);
    return 0;
}
