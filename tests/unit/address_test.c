/* Which addresses a request may go to. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "address.h"

static void address_of(const char *text, struct sockaddr_storage *ret) {
    *ret = (struct sockaddr_storage){.ss_family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET};
    void *at = ret->ss_family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)ret)->sin6_addr
                                          : (void *)&((struct sockaddr_in *)ret)->sin_addr;
    assert_int_equal(inet_pton(ret->ss_family, text, at), 1);
}

static bool is_public(const char *text) {
    struct sockaddr_storage a;
    address_of(text, &a);
    return address_is_public((struct sockaddr *)&a);
}

static bool is_listed(const char *text, const char *list) {
    struct sockaddr_storage a;
    address_of(text, &a);
    return address_is_listed((struct sockaddr *)&a, list);
}

/* The first and the last of each range. */
static void special_ranges_are_not_public(void **state) {
    (void)state;
    static const char *const special[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "168.63.129.16",
        "100.100.100.200",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "fc00::1",
        "fd00:ec2::254",
        "fdff:ffff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "2001::1",
        "2001:0:7f00:1::",
        "2001:10::1",
        "2001:2::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "3fff:fff::1",
        "4000::1",
        "1fff::1",
    };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (is_public(special[i])) fail_msg("%s counts as public", special[i]);
}

static void neighbours_of_special_ranges_are_public(void **state) {
    (void)state;
    static const char *const plain[] = {
        "1.0.0.0",         "9.255.255.255",   "11.0.0.0",        "100.63.255.255",       "100.128.0.0",
        "126.255.255.255", "128.0.0.0",       "169.253.255.255", "169.255.0.0",          "172.15.255.255",
        "172.32.0.0",      "192.0.1.0",       "192.0.3.0",       "192.167.255.255",      "192.169.0.0",
        "198.17.255.255",  "198.20.0.0",      "203.0.112.255",   "223.255.255.255",      "8.8.8.8",
        "168.63.129.17",   "::ffff:8.8.8.8",  "2001:200::1",     "2001:4860:4860::8888", "2003::1",
        "2a00::1",         "2606:4700::1111", "3ffe::1",
    };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (!is_public(plain[i])) fail_msg("%s does not count as public", plain[i]);
}

static void what_is_no_address_is_not_public(void **state) {
    (void)state;
    struct sockaddr_storage a = {.ss_family = AF_UNIX};
    assert_false(address_is_public((struct sockaddr *)&a));
    assert_false(address_is_listed((struct sockaddr *)&a, "all"));
}

static void lists_name_networks(void **state) {
    (void)state;
    assert_true(is_listed("10.1.2.3", "10.0.0.0/8"));
    assert_true(is_listed("::ffff:10.1.2.3", "10.0.0.0/8"));
    assert_false(is_listed("11.1.2.3", "10.0.0.0/8,127.0.0.1"));
    assert_true(is_listed("127.0.0.1", "10.0.0.0/8,127.0.0.1"));
    assert_false(is_listed("127.0.0.2", "10.0.0.0/8,127.0.0.1"));
    assert_true(is_listed("fd00::7", "fc00::/7"));
    assert_false(is_listed("10.1.2.3", "::/0"));
    assert_true(is_listed("fe80::1", "all"));
    assert_true(is_listed("1.2.3.4", "0.0.0.0/0"));
    assert_false(is_listed("127.0.0.1", ""));
}

static void bad_lists_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",        ",",          "10.0.0.0/33",     "10.0.0/8",    "10.0.0.0/", "10.0.0.0/x",    "10.0.0.0/-1",
        "::1/129", "everything", "10.0.0.0/8,,::1", "10.0.0.0/8 ", "localhost", "10.0.0.0/8,all"};
    struct why why;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (address_list_check(bad[i], &why) != ERR_INVALID) fail_msg("`%s` is taken", bad[i]);
    assert_int_equal(address_list_check("10.0.0.0/8,::1,fd00::/8", &why), ERR_OK);
    assert_int_equal(address_list_check("all", &why), ERR_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_ranges_are_not_public),
        cmocka_unit_test(neighbours_of_special_ranges_are_public),
        cmocka_unit_test(what_is_no_address_is_not_public),
        cmocka_unit_test(lists_name_networks),
        cmocka_unit_test(bad_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
