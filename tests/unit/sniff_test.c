/* sniff_test.c: every protocol is told by its first bytes, a shorter beginning asks for more, all else is unknown, or
 * a text of some other protocol. */
#include "test.h"

#include "sniff.h"

static const struct {
    struct slice bytes;
    enum sniff means;
} cases[] = {
#define T(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }
    {T("\x02"), SNIFF_NATIVE},
    {T("\x02\x01\x00\x00\x00\x00\x00\x01"), SNIFF_NATIVE},
    {T("\x01"), SNIFF_TITAN},
    {T("\x01\x0a"), SNIFF_TITAN},
    {T("\x16\x03"), SNIFF_TLS},
    {T("\x16\x03\x01\x02\x00"), SNIFF_TLS},
    {T("*1\r\n$4\r\nPING\r\n"), SNIFF_RESP},
    {T("GET / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("HEAD / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("POST / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("PUT / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("PATCH / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("DELETE / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("OPTIONS * HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("CONNECT a:1 HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("TRACE / HTTP/1.1\r\n"), SNIFF_HTTP},
    {T("PRI * HTTP/2.0\r\n"), SNIFF_TEXT},
    {T("get / HTTP/1.1\r\n"), SNIFF_TEXT},
    {T("GETX"), SNIFF_TEXT},
    {T("PING\r\n"), SNIFF_TEXT},
    {T("*a"), SNIFF_TEXT},
    {T("\x16\x02"), SNIFF_UNKNOWN},
    {T("\x03"), SNIFF_UNKNOWN},
    {T("\x00"), SNIFF_UNKNOWN},
    {T("\r\nGET / HTTP/1.1\r\n"), SNIFF_HTTP}, /* RFC 9112, 2.2 */
    {T("\r\n"), SNIFF_MORE},
    {T("\r\nGE"), SNIFF_MORE},
    {T("\r\n\r\n"), SNIFF_TEXT},
    {T("\r\n\x02"), SNIFF_TEXT},
    {T("\rGET "), SNIFF_TEXT},
    {T("SSH-2.0-x"), SNIFF_TEXT},
};

static void the_first_bytes_tell(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(sniff_word(sniff(cases[i].bytes)), sniff_word(cases[i].means));
    }
}

/* Byte by byte, as a slow peer sends them: first more, then the answer, and never another one. */
static void the_answer_does_not_depend_on_pieces(void **state) {
    (void)state;
    assert_int_equal(sniff(SLICE("")), SNIFF_MORE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_told = false;
        for (size_t len = 0; len <= cases[i].bytes.len; len++) {
            enum sniff found = sniff(slice_of(cases[i].bytes.ptr, len));
            assert_true(found == cases[i].means || (found == SNIFF_MORE && !is_told));
            is_told = found != SNIFF_MORE;
            if (len >= SNIFF_BYTES_MAX) assert_true(is_told);
        }
    }
}

static void a_few_bytes_always_suffice(void **state) {
    (void)state;
    struct test_random random = {5};
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[SNIFF_BYTES_MAX];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)("GETPOSUHADLIN* \x01\x02\x16\r\n"[test_random_below(&random, 20)]);
        assert_int_not_equal(sniff(slice_of(bytes, sizeof bytes)), SNIFF_MORE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_bytes_tell),
        cmocka_unit_test(the_answer_does_not_depend_on_pieces),
        cmocka_unit_test(a_few_bytes_always_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
