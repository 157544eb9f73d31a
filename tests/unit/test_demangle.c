#include "shell.h"

#include "symbol/demangle.h"
#include "symbol/shown_names.h"

static struct buf out;

static const char *demangled(const char *name, enum name_style style)
{
	buf_clear(&out);
	demangle(&out, name, style);
	return out.data;
}

static int release_out(void **state)
{
	(void)state;
	buf_release(&out);
	return 0;
}

static void names_are_those_of_perf(void **state)
{
	(void)state;
	static const struct {
		const char *name, *full, *shorter;
	} rows[] = {
		{"main", "main", "main"},
		{"main.(*Server).Serve", "main.(*Server).Serve", "main.(*Server).Serve"},
		{"_start", "_start", "_start"},
		{"", "", ""},
		{"_Z3foov", "foo", "foo"},
		{"_Z3foov.isra.0", "foo", "foo"},
		{"_Z3foov.cold", "foo", "foo"},
		{"_Z3foov@@V1", "foo", "foo"},
		{"foo@@V1", "foo@@V1", "foo@@V1"},
		{"foo.part.0", "foo.part.0", "foo.part.0"},
		{"_Z", "_Z", "_Z"},
		{"_ZN2ns1AIiE1fERKSt6vectorIiSaIiEEi", "ns::A<int>::f", "ns::A<…>::f"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back",
		 "std::vector<…>::push_back"},
		{"_ZlsIiERSoS0_RKT_", "operator<< <int>", "operator<< <…>"},
		{"_ZN1AltIiEEbRKS_", "A::operator< <int>", "A::operator< <…>"},
		{"_ZN1AptEv", "A::operator->", "A::operator->"},
		{"_ZN1AclIiEEvv", "A::operator()<int>", "A::operator()<…>"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", "main::{lambda()#1}::operator()"},
		{"_GLOBAL__I_foo", "global constructors keyed to foo", "global constructors keyed to foo"},
		/* Rust: the hash is no part of the name */
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
		 "core::fmt::Write::write_fmt"},
		{"_ZN50_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$Clone$GT$5clone17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as Clone>::clone", "<alloc::vec::Vec<…> as Clone>::clone"},
		{"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example", "mycrate::example"},
		{"_RINvNtC4core3ptr13drop_in_placeINtNtC5alloc3vec3VechEEC3foo",
		 "core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place::<…>"},
		{"_D8demangle4testFaZv", "demangle.test(char)", "demangle.test(char)"},
		{"_Dmain", "D main", "D main"},
		{"camlStdlib__List__map_123", "Stdlib.List.map_123", "Stdlib.List.map_123"},
		{"camlFoo__$3d$3e_1", "Foo.=>_1", "Foo.=>_1"},
		{"caml_alloc", "caml_alloc", "caml_alloc"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_string_equal(demangled(rows[i].name, NAMES_FULL), rows[i].full);
		assert_string_equal(demangled(rows[i].name, NAMES_SHORT), rows[i].shorter);
		assert_string_equal(demangled(rows[i].name, NAMES_RAW), rows[i].name);
	}
}

static void brackets_that_are_no_arguments_stay(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shorter;
	} rows[] = {
		{"", ""},
		{"a<b>::c<d<e> >::f", "a<…>::c<…>::f"},
		{"a::operator<<", "a::operator<<"},
		{"a::operator<=>", "a::operator<=>"},
		{"a<b>::operator><c>", "a<…>::operator><…>"},
		{"myoperator<int>", "myoperator<…>"},
		{"std::operator+<char, a<b> >", "std::operator+<…>"},
		{"operator==<int>", "operator==<…>"},
		{"a+<b>", "a+<b>"},
		{"<T as U<V>>::f", "<T as U<…>>::f"},
		{"<&<T as U>::V<W> as X>::f::<Y>", "<&<T as U>::V<…> as X>::f::<…>"},
		{"a<(b)1>::c", "a<…>::c"},
		{"a<((1)>(2))>::c", "a<…>::c"},
		{"a<(1)<(2)>::c", "a<…>::c"},
		{"f<fn(a) -> b>", "f<…>"},
		{"a<b", "a<b"},
		{"a<b<c>", "a<b<c>"},
		{"a>b", "a>b"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_clear(&out);
		buf_add(&out, "", 0);
		demangle_shorten(&out, rows[i].name, strlen(rows[i].name));
		assert_string_equal(out.data, rows[i].shorter);
	}
}

/* nm -C prints with the same options. */
static void signatures_are_those_of_nm(void **state)
{
	(void)state;
	static const char library[] = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
	if (access(library, R_OK))
		skip();
	struct buf raw =
		shell_output("nm -D --defined-only /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | sed -E 's/^.{19}//'");
	struct buf text =
		shell_output("nm -D -C --defined-only /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | sed -E 's/^.{19}//'");
	char *raw_rest = raw.data, *text_rest = text.data;
	size_t seen = 0;
	for (char *name; (name = shell_line(&raw_rest)); seen++) {
		const char *expected = shell_line(&text_rest);
		assert_non_null(expected);
		assert_string_equal(demangled(name, NAMES_SIGNATURE), expected);
	}
	assert_true(seen > 1000);
	buf_release(&raw);
	buf_release(&text);
}

static void long_names_are_demangled_and_endless_ones_are_not(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf name = {0};
	buf_str(&name, "_ZN");
	for (int i = 0; i < 500; i++)
		buf_str(&name, "8abcdefgh");
	buf_str(&name, "1fEv");
	const char *text = demangled(name.data, NAMES_FULL);
	assert_int_equal(strlen(text), 500 * 10 + 1);
	assert_int_equal(strncmp(text, "abcdefgh::abcdefgh::", 20), 0);
	buf_clear(&name);
	buf_str(&name, "_Z1f");
	for (int i = 0; i < 16000; i++)
		buf_char(&name, 'P');
	buf_char(&name, 'i');
	/* Too deep for its parameters to be shown. */
	assert_string_equal(demangled(name.data, NAMES_SIGNATURE), "f");
	for (int i = 0; i < 100000; i++)
		buf_char(&name, 'P');
	assert_string_equal(demangled(name.data, NAMES_SIGNATURE), name.data);
}

/* A reference to a place in the name, in base 62 and one less. */
static void rust_reference(struct buf *name, size_t place)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	buf_char(name, 'B');
	if (--place >= 62)
		buf_char(name, digits[place / 62]);
	buf_char(name, digits[place % 62]);
	buf_char(name, '_');
}

static void rust_pairs(struct buf *name, int count)
{
	buf_str(name, "_RINvC1a1fTmmE");
	size_t previous = 8;
	for (int i = 0; i < count; i++) {
		size_t here = name->size - 2;
		buf_char(name, 'T');
		rust_reference(name, previous);
		rust_reference(name, previous);
		buf_char(name, 'E');
		previous = here;
	}
	buf_char(name, 'E');
}

/* Each argument is a pair of the one before it: 2^n bytes out of n. */
static void text_that_doubles_is_left_alone(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf cplus = {0}, rust = {0};
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	buf_str(&cplus, "_Z1f1A1XIS_S_E");
	for (int i = 1; i < 34; i++)
		buf_printf(&cplus, "S0_IS%c_S%c_E", digits[i], digits[i]);
	/* Without its parameters it is harmless, and that is what is shown. */
	assert_string_equal(demangled(cplus.data, NAMES_SIGNATURE), "f");
	assert_string_equal(demangled(cplus.data, NAMES_FULL), "f");
	rust_pairs(&rust, 6);
	assert_true(strlen(demangled(rust.data, NAMES_FULL)) > 500);
	buf_clear(&rust);
	rust_pairs(&rust, 40);
	assert_string_equal(demangled(rust.data, NAMES_FULL), rust.data);
}

static void shown_names_are_made_once(void **state)
{
	(void)state;
	static const char plain[] = "plain", mangled[] = "_Z3foov", versioned[] = "memcpy@@GLIBC_2.14";
	struct shown_names names;
	shown_names_init(&names, NAMES_FULL);
	assert_ptr_equal(shown_name(&names, plain, false), plain);
	const char *text = shown_name(&names, mangled, false);
	assert_string_equal(text, "foo");
	assert_ptr_equal(shown_name(&names, mangled, false), text);
	assert_string_equal(shown_name(&names, mangled, true), "foo@plt");
	assert_string_equal(shown_name(&names, plain, true), "plain@plt");
	assert_string_equal(shown_name(&names, versioned, true), "memcpy@plt");
	assert_string_equal(shown_name(&names, versioned, false), "memcpy@@GLIBC_2.14");
	shown_names_release(&names);
	shown_names_init(&names, NAMES_RAW);
	assert_ptr_equal(shown_name(&names, mangled, false), mangled);
	shown_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(names_are_those_of_perf, release_out),
		cmocka_unit_test_teardown(brackets_that_are_no_arguments_stay, release_out),
		cmocka_unit_test_teardown(signatures_are_those_of_nm, release_out),
		cmocka_unit_test_teardown(long_names_are_demangled_and_endless_ones_are_not, release_out),
		cmocka_unit_test_teardown(text_that_doubles_is_left_alone, release_out),
		cmocka_unit_test(shown_names_are_made_once),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
