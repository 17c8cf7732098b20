/* hash_test.c: the journal thread and the loop both compute checksums; nothing in there may be shared. */
#include "test.h"

#include <pthread.h>

#include "hash.h"

static void *checksum_often(void *ret) {
    static const uint8_t bytes[4096] = {1, 2, 3};
    uint32_t crc = 0;
    for (int i = 0; i < 1000; i++) crc = crc32c(crc, bytes, sizeof bytes);
    *(uint32_t *)ret = crc;
    return NULL;
}

static void two_threads_get_the_same_checksum(void **state) {
    (void)state;
    pthread_t threads[2];
    uint32_t crcs[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, checksum_often, &crcs[i]), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(crcs[0], crcs[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_threads_get_the_same_checksum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
