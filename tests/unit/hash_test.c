/* hash_test.c: values that are written to disk and must never change. */
#include "test.h"

#include "hash.c" /* the source: the table must be right also where the instruction exists */

static void hash64_values_are_frozen(void **state) {
    (void)state;
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + 1);
    static const struct {
        size_t len;
        uint64_t value;
    } frozen[] = {
        {0, 0x011bb03c38677b21ULL},   {1, 0x2acebcb052941489ULL},  {3, 0xcd7fa3e15b6a2c54ULL},
        {4, 0xd00167f513bb999cULL},   {7, 0x447abb9450f36887ULL},  {8, 0x00e7150fbd466803ULL},
        {15, 0x699bda4505c3fda8ULL},  {16, 0x19c2824c19aec39bULL}, {17, 0x35add59b44b5de2eULL},
        {32, 0xe82b084552c0bdc9ULL},  {33, 0x517ccaf01cfe0ef9ULL}, {48, 0xb91b693baa892eeaULL},
        {49, 0x446f8f5399a1da27ULL},  {96, 0xaaae24cc76bd24b9ULL}, {97, 0x6603b6caea76765dULL},
        {200, 0x1c229ab848e22327ULL},
    };
    for (size_t i = 0; i < sizeof frozen / sizeof frozen[0]; i++) {
        assert_int_equal(hash64(bytes, frozen[i].len, 42), frozen[i].value);
    }
}

static void every_bit_of_the_input_counts(void **state) {
    (void)state;
    uint8_t bytes[100] = {0};
    for (size_t len = 1; len <= sizeof bytes; len++) {
        uint64_t plain = hash64(bytes, len, 0);
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            uint64_t flipped = hash64(bytes, len, 0);
            bytes[bit / 8] = 0;
            int distance = __builtin_popcountll(plain ^ flipped);
            assert_in_range(distance, 8, 56);
        }
        assert_int_not_equal(plain, hash64(bytes, len - 1, 0));
        assert_int_not_equal(plain, hash64(bytes, len, 1));
    }
}

/* 2^16 keys of every short shape into 2^16 buckets: a good hash leaves about 1/e of them empty. */
static void low_bits_spread(void **state) {
    (void)state;
    static uint8_t hit[65536];
    for (size_t len = 2; len <= 40; len++) {
        uint8_t key[40] = {0};
        memset(hit, 0, sizeof hit);
        unsigned filled = 0;
        for (unsigned i = 0; i < 65536; i++) {
            key[len - 1] = (uint8_t)i;
            key[len - 2] = (uint8_t)(i >> 8);
            unsigned bucket = (unsigned)hash64(key, len, 0) & 0xffff;
            filled += !hit[bucket];
            hit[bucket] = 1;
        }
        assert_in_range(filled, 40000, 43500);
    }
}

static void crc32c_has_the_published_values(void **state) {
    (void)state;
    uint8_t bytes[32] = {0};
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(crc32c(0, bytes, 32), 0x62a8ab43);
    for (size_t i = 0; i < 32; i++) bytes[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, bytes, 32), 0x46dd794e);
    assert_int_equal(crc32c(0, NULL, 0), 0);
}

/* Bit by bit, from the definition. */
static uint32_t crc_slow(const uint8_t *p, size_t len) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
    }
    return ~crc;
}

static void crc32c_in_pieces_equals_the_whole(void **state) {
    (void)state;
    uint8_t bytes[70];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        assert_int_equal(crc32c(0, bytes, len), crc_slow(bytes, len));
        assert_int_equal(~crc_by_table(~0u, bytes, len), crc_slow(bytes, len));
        for (size_t cut = 0; cut <= len; cut++) {
            assert_int_equal(crc32c(crc32c(0, bytes, cut), bytes + cut, len - cut), crc32c(0, bytes, len));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash64_values_are_frozen),
        cmocka_unit_test(every_bit_of_the_input_counts),
        cmocka_unit_test(low_bits_spread),
        cmocka_unit_test(crc32c_has_the_published_values),
        cmocka_unit_test(crc32c_in_pieces_equals_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
