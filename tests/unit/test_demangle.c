/* Demangled names, in all styles and languages. */
#include "shell.h"

#include "name/demangle.h"
#include "name/short_name.h"
#include "symbol/shown_names.h"

#include <ctype.h>

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

/* Names of all languages: whole, as perf prints them, and short. */
static void names_have_three_forms(void **state)
{
	(void)state;
	static const struct {
		const char *name, *full, *perf, *shorter;
	} rows[] = {
		{"main", "main", "main", "main"},
		{"_start", "_start", "_start", "_start"},
		{"", "", "", ""},
		{"_Z", "_Z", "_Z", "_Z"},
		{"_Z3foov", "foo()", "foo", "foo"},
		{"_Z3foov.isra.0", "foo() [clone .isra.0]", "foo", "foo [clone .isra.0]"},
		{"_Z3foov.constprop.0.cold", "foo() [clone .constprop.0] [clone .cold]", "foo",
		 "foo [clone .constprop.0] [clone .cold]"},
		{"_Z3foov@@V1", "foo()@@V1", "foo", "foo@@V1"},
		{"foo@@V1", "foo@@V1", "foo@@V1", "foo@@V1"},
		{"foo.part.0", "foo.part.0", "foo.part.0", "foo.part.0"},
		{"_ZN2ns1AIiE1fERKSt6vectorIiSaIiEEi",
		 "ns::A<int>::f(std::vector<int, std::allocator<int> > const&, int)", "ns::A<int>::f", "ns::A::f"},
		{"_ZlsIiERSoS0_RKT_",
		 "std::basic_ostream<char, std::char_traits<char> >& operator<< "
		 "<int>(std::basic_ostream<char, std::char_traits<char> >&, int const&)",
		 "operator<< <int>", "operator<<"},
		{"_ZNSolsEi", "std::basic_ostream<char, std::char_traits<char> >::operator<<(int)",
		 "std::ostream::operator<<", "std::ostream::operator<<"},
		{"_ZN1AltIiEEbRKS_", "bool A::operator< <int>(A const&)", "A::operator< <int>", "A::operator<"},
		{"_ZN1AptEv", "A::operator->()", "A::operator->", "A::operator->"},
		{"_ZN1AclIiEEvv", "void A::operator()<int>()", "A::operator()<int>", "A::operator()"},
		{"_ZNK1AcvjEv", "A::operator unsigned int() const", "A::operator unsigned int",
		 "A::operator unsigned int"},
		{"_Z3tagB5cxx11v", "tag[abi:cxx11]()", "tag[abi:cxx11]", "tag[abi:cxx11]"},
		{"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo(int)", "(anonymous namespace)::foo",
		 "(anonymous namespace)::foo"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()",
		 "main::{lambda()#1}::operator()"},
		{"_ZZN4tcqa3Gen3runEiENKUlvE0_clEv", "tcqa::Gen::run(int)::{lambda()#2}::operator()() const",
		 "tcqa::Gen::run(int)::{lambda()#2}::operator()", "tcqa::Gen::run::{lambda()#2}::operator()"},
		{"_GLOBAL__I_foo", "global constructors keyed to foo", "global constructors keyed to foo",
		 "global constructors keyed to foo"},
		{"_ZThn8_N1A1fEi", "non-virtual thunk to A::f(int)", "non-virtual thunk to A::f(int)",
		 "non-virtual thunk to A::f"},
		/* Rust: the hash is no part of the name */
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
		 "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt"},
		{"_ZN50_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$Clone$GT$5clone17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as Clone>::clone", "<alloc::vec::Vec<T> as Clone>::clone",
		 "<alloc::vec::Vec as Clone>::clone"},
		{"_ZN4main3run28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main::run::{{closure}}",
		 "main::run::{{closure}}", "main::run::{{closure}}"},
		{"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example", "mycrate::example", "mycrate::example"},
		{"_RNCNvC7mycrate3run0B3_", "mycrate::run::{closure#0}", "mycrate::run::{closure#0}",
		 "mycrate::run::{closure#0}"},
		{"_RNCNvC7mycrate3runs_0B3_", "mycrate::run::{closure#1}", "mycrate::run::{closure#1}",
		 "mycrate::run::{closure#1}"},
		{"_RINvNtC4core3ptr13drop_in_placeINtNtC5alloc3vec3VechEEC3foo",
		 "core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place::<alloc::vec::Vec<u8>>",
		 "core::ptr::drop_in_place"},
		/* Go */
		{"main.(*Server).Serve", "main.(*Server).Serve", "main.(*Server).Serve", "main.(*Server).Serve"},
		{"main.run.func1", "main.run.func1", "main.run.func1", "main.run.func1"},
		{"main.Map[...]", "main.Map[...]", "main.Map[...]", "main.Map[...]"},
		{"main.(*List[go.shape.int]).Push", "main.(*List[go.shape.int]).Push",
		 "main.(*List[go.shape.int]).Push", "main.(*List[go.shape.int]).Push"},
		{"_D8demangle4testFaZv", "demangle.test(char)", "demangle.test(char)", "demangle.test"},
		{"_Dmain", "D main", "D main", "D main"},
		{"camlStdlib__List__map_123", "Stdlib.List.map_123", "Stdlib.List.map_123", "Stdlib.List.map_123"},
		{"camlFoo__$3d$3e_1", "Foo.=>_1", "Foo.=>_1", "Foo.=>_1"},
		{"caml_alloc", "caml_alloc", "caml_alloc", "caml_alloc"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_string_equal(demangled(rows[i].name, NAMES_RAW), rows[i].name);
		assert_string_equal(demangled(rows[i].name, NAMES_PERF), rows[i].perf);
		assert_string_equal(demangled(rows[i].name, NAMES_FULL), rows[i].full);
		CLEANUP_BUF struct buf shorter = {0};
		short_name(&shorter, out.data, out.size, 0);
		assert_string_equal(shorter.data, rows[i].shorter);
	}
}

/* What differs in its hash only keeps it, and nothing else does. */
static void hashes_distinguish_rust_instances(void **state)
{
	(void)state;
	static const char *const names[] = {
		"_ZN1a1f17h0123456789abcde1E",
		"_ZN1a1f17h0123456789abcde2E",
		"_ZN1a1g17h0123456789abcde3E",
	};
	struct symtab *table = symtab_new();
	for (size_t i = 0; i < 3; i++)
		symtab_add(table, &(struct symtab_symbol){.start = 16 * i, .end = 16 * i + 16, .name = names[i]}, 100);
	symtab_finish(table);
	struct shown_names shown;
	shown_names_init(&shown, NAMES_FULL);
	shown.table = table;
	assert_string_equal(shown_name(&shown, names[0], false), "a::f::h0123456789abcde1");
	assert_string_equal(shown_name(&shown, names[1], false), "a::f::h0123456789abcde2");
	assert_string_equal(shown_name(&shown, names[2], false), "a::g");
	shown_names_release(&shown);
	symtab_free(table);
}

static void check_balance(const char *text, const char *from)
{
	size_t length = strlen(text);
	int round = 0, square = 0, curly = 0;
	for (size_t i = 0; i < length; i++) {
		round += (text[i] == '(') - (text[i] == ')');
		square += (text[i] == '[') - (text[i] == ']');
		curly += (text[i] == '{') - (text[i] == '}');
	}
	if (!length || isspace((unsigned char)text[0]) || isspace((unsigned char)text[length - 1]) || round || square ||
	    curly)
		fail_msg("'%s' of '%s'", text, from);
}

/* Every name that c++filt knows, and the short forms of them all. */
static void check_all(const char *list, size_t min)
{
	CLEANUP_BUF struct buf command = {0}, shorter = {0};
	buf_printf(&command, "%s | c++filt", list);
	struct buf raw = shell_output(list), text = shell_output(command.data);
	char *raw_rest = raw.data, *text_rest = text.data;
	size_t seen = 0;
	for (char *name; (name = shell_line(&raw_rest)); seen++) {
		const char *expected = shell_line(&text_rest);
		assert_non_null(expected);
		assert_string_equal(demangled(name, NAMES_FULL), expected);
		for (unsigned keep = 0; keep < 4; keep++) {
			buf_clear(&shorter);
			short_name(&shorter, expected, strlen(expected), keep);
			check_balance(shorter.data, expected);
		}
	}
	assert_true(seen >= min);
	buf_release(&raw);
	buf_release(&text);
}

/* Its functions, and those of the static library, which has local ones too. */
static void names_of_the_standard_library_are_those_of_cplusfilt(void **state)
{
	(void)state;
	if (access("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", R_OK))
		skip();
	check_all("nm -D /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | awk '{ print $NF }'", 5000);
	check_all("for f in $(g++ -print-file-name=libstdc++.a); do [ -r $f ] && nm $f 2>/dev/null; done | "
		  "awk 'NF > 1 { print $NF }' | sort -u",
		  0);
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
	assert_int_equal(strlen(text), 500 * 10 + 3);
	assert_int_equal(strncmp(text, "abcdefgh::abcdefgh::", 20), 0);
	buf_clear(&name);
	buf_str(&name, "_Z1f");
	for (int i = 0; i < 16000; i++)
		buf_char(&name, 'P');
	buf_char(&name, 'i');
	/* Too deep for its parameters to be shown. */
	assert_string_equal(demangled(name.data, NAMES_FULL), "f");
	for (int i = 0; i < 100000; i++)
		buf_char(&name, 'P');
	assert_string_equal(demangled(name.data, NAMES_FULL), name.data);
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
	assert_string_equal(demangled(cplus.data, NAMES_FULL), "f");
	assert_string_equal(demangled(cplus.data, NAMES_PERF), "f");
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
	assert_string_equal(text, "foo()");
	assert_ptr_equal(shown_name(&names, mangled, false), text);
	assert_string_equal(shown_name(&names, mangled, true), "foo()@plt");
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
		cmocka_unit_test_teardown(names_have_three_forms, release_out),
		cmocka_unit_test(hashes_distinguish_rust_instances),
		cmocka_unit_test_teardown(names_of_the_standard_library_are_those_of_cplusfilt, release_out),
		cmocka_unit_test_teardown(long_names_are_demangled_and_endless_ones_are_not, release_out),
		cmocka_unit_test_teardown(text_that_doubles_is_left_alone, release_out),
		cmocka_unit_test(shown_names_are_made_once),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
