/* ids.c: see ids.h. Text form: 'f', a digit, the flow number in base32 without leading zeroes (the digit says how many
 * characters, so that shorter, older ids sort first), then the shard in base32, left out for shard 0. */
#include "ids.h"

#include "panic.h"

static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* The value of a Crockford digit, or 32. */
static uint32_t digit_value(uint8_t c) {
    if (c >= 'A' && c <= 'Z') c = (uint8_t)(c - 'A' + 'a');
    if (c == 'o') return 0;
    if (c == 'i' || c == 'l') return 1;
    for (uint32_t v = 0; v < 32; v++)
        if ((uint8_t)alphabet[v] == c) return v;
    return 32;
}

static size_t put_base32(uint64_t v, char *out) {
    char reversed[16];
    size_t n = 0;
    do {
        reversed[n++] = alphabet[v & 31u];
        v >>= 5;
    } while (v);
    for (size_t i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
    return n;
}

static bool get_base32(const uint8_t *at, size_t len, uint64_t *ret) {
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        uint32_t digit = digit_value(at[i]);
        if (digit > 31 || v >> 59) return false;
        v = v << 5 | digit;
    }
    *ret = v;
    return true;
}

/* 13 base32 characters hold 64 bits; the length digit is itself base32. */
void flow_text(uint32_t shard, flow_id id, char out[FLOW_TEXT_BYTES]) {
    REQUIRE(id.v != 0);
    size_t n = put_base32(id.v, out + 2);
    ENSURE(n <= 13);
    out[0] = 'f';
    out[1] = alphabet[n];
    n += 2;
    if (shard) n += put_base32(shard, out + n);
    ENSURE(n < FLOW_TEXT_BYTES);
    out[n] = '\0';
}

bool flow_parse(struct slice text, uint32_t *ret_shard, flow_id *ret) {
    if (text.len < 3 || text.len >= FLOW_TEXT_BYTES || (text.ptr[0] | 0x20) != 'f') return false;
    uint32_t digits = digit_value(text.ptr[1]);
    if (digits == 0 || digits > 13 || text.len < 2 + digits) return false;
    uint64_t id = 0, shard = 0;
    if (!get_base32(text.ptr + 2, digits, &id) || id == 0) return false;
    if (!get_base32(text.ptr + 2 + digits, text.len - 2 - digits, &shard) || shard > UINT32_MAX) return false;
    if (digits > 1 && digit_value(text.ptr[2]) == 0) return false;
    if (text.len > 2 + digits && digit_value(text.ptr[2 + digits]) == 0) return false;
    *ret_shard = (uint32_t)shard;
    ret->v = id;
    return true;
}
