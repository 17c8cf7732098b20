/* server_address_test.c: the address of a server, as people write it and as it is used. */
#include "test.h"

#include "server_address.h"

static const char *read_as(const char *text) {
    static char address[SERVER_ADDRESS_BYTES_MAX];
    struct why why = {{0}};
    enum err e = server_address_read(text, address, &why);
    if (e != ERR_OK) fail_msg("%s: %s", text, why.text);
    return address;
}

static void refused(const char *text, const char *said) {
    char address[SERVER_ADDRESS_BYTES_MAX] = "untouched";
    struct why why = {{0}};
    assert_int_equal(server_address_read(text, address, &why), ERR_INVALID);
    assert_string_equal(address, "untouched");
    assert_has(why.text, said);
}

static void a_port_is_7070_unless_given(void **state) {
    (void)state;
    assert_string_equal(read_as("build.example"), "build.example:7070");
    assert_string_equal(read_as("build.example:80"), "build.example:80");
    assert_string_equal(read_as("10.0.0.7"), "10.0.0.7:7070");
    assert_string_equal(read_as("tls://build.example"), "tls://build.example:7070");
    assert_string_equal(read_as("tls://build.example:443"), "tls://build.example:443");
    assert_string_equal(read_as("tls:build.example:443"), "tls://build.example:443");
    assert_string_equal(read_as("unix:/run/reeve.sock"), "unix:/run/reeve.sock");
}

static void ipv6_needs_brackets_only_before_a_port(void **state) {
    (void)state;
    assert_string_equal(read_as("::1"), "[::1]:7070");
    assert_string_equal(read_as("[::1]"), "[::1]:7070");
    assert_string_equal(read_as("[::1]:9"), "[::1]:9");
    assert_string_equal(read_as("tls://2001:db8::7"), "tls://[2001:db8::7]:7070");
    assert_string_equal(read_as("fe80::1%eth0"), "[fe80::1%eth0]:7070");
    assert_string_equal(read_as("[fe80::1%eth0]:9"), "[fe80::1%eth0]:9");
}

static void other_schemes_are_told_the_form_to_write(void **state) {
    (void)state;
    refused("http://build.example", "write build.example:7070, or tls://build.example:7070 for a server with TLS");
    refused("https://build.example:443/flows?x=1", "write build.example:443, or tls://build.example:443");
    refused("tcp://[::1]:9", "write [::1]:9, or");
    refused("tls://http://h", "write h:7070");
    refused("http://", "expected HOST, HOST:PORT, or tls://HOST:PORT");
}

static void what_is_no_address_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",     ":",      ":7070",   "h:",        "h:0",   "h:65536", "h:999999",
                                      "h:x",  "h:70x",  "h:7070/", "h/x",       "a b",   "u@h",     "[h]:7070",
                                      "[::1", "[::1]x", "[]:1",    "::1:70000", "a:b:c", "tls://",  "tls://:1"};
    static char longest[2 * SERVER_ADDRESS_BYTES_MAX];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused(bad[i], "invalid server address");
    memset(longest, 'h', sizeof longest - 1);
    refused(longest, "invalid server address");
    longest[SERVER_ADDRESS_BYTES_MAX - 3] = 0; /* it would fit, but not with a port */
    refused(longest, "invalid server address");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_is_7070_unless_given),
        cmocka_unit_test(ipv6_needs_brackets_only_before_a_port),
        cmocka_unit_test(other_schemes_are_told_the_form_to_write),
        cmocka_unit_test(what_is_no_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
