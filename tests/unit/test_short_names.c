/* Short forms of names, and that they stay distinct. */
#include "unit.h"

#include "name/short_name.h"
#include "profile/calltree.h"
#include "profile/match.h"
#include "profile/short_names.h"
#include "profile/tree_labels.h"

static void names_are_shortened(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shorter, *parameters;
	} rows[] = {
		{"", "", ""},
		{"a<b>::c<d<e> >::f", "a::c::f", "a::c::f"},
		{"a::operator<<(b)", "a::operator<<", "a::operator<<(b)"},
		{"a::operator<=>(a const&) const", "a::operator<=>", "a::operator<=>(a const&) const"},
		{"a<b>::operator><c>(d)", "a::operator>", "a::operator>(d)"},
		{"myoperator<int>(int)", "myoperator", "myoperator(int)"},
		{"std::operator+<char, a<b> >(c<d>)", "std::operator+", "std::operator+(c)"},
		{"operator new[](unsigned long)", "operator new[]", "operator new[](unsigned long)"},
		{"a::operator void*() const", "a::operator void*", "a::operator void*() const"},
		{"operator\"\" _km(unsigned long long)", "operator\"\" _km", "operator\"\" _km(unsigned long long)"},
		{"std::vector<a, b<a> > const& f<a>(c<a>, d)", "f", "f(c, d)"},
		{"void (*f<int>(int))(char)", "f", "f(int)"},
		{"decltype ((a)+(b)) f<int>(int)", "f", "f(int)"},
		{"decltype(auto) f<int>(int)", "f", "f(int)"},
		{"f(a<b>)::{lambda(c<d>, int)#2}::operator()(c<d>, int) const", "f::{lambda(c, int)#2}::operator()",
		 "f(a)::{lambda(c, int)#2}::operator()(c, int) const"},
		{"f(int) const::local* g<int>(int)", "g", "g(int)"},
		{"(anonymous namespace)::f((anonymous namespace)::a)", "(anonymous namespace)::f",
		 "(anonymous namespace)::f((anonymous namespace)::a)"},
		{"std::function<int (int, int)>::operator()(int, int) const", "std::function::operator()",
		 "std::function::operator()(int, int) const"},
		{"f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)", "f",
		 "f(std::string const&)"},
		{"<T as U<V>>::f", "<T as U>::f", "<T as U>::f"},
		{"<&<T as U>::V<W> as X>::f::<Y>", "<&<T as U>::V as X>::f", "<&<T as U>::V as X>::f"},
		{"core::slice::<impl [T]>::iter", "core::slice::<impl [T]>::iter", "core::slice::<impl [T]>::iter"},
		{"f::<fn(a) -> b>", "f", "f"},
		{"a<(b)1>::c", "a::c", "a::c"},
		{"a<((1)>(2))>::c", "a::c", "a::c"},
		{"a<(1)<(2)>::c", "a::c", "a::c"},
		/* not C++ */
		{"work (app.py:12)", "work (app.py:12)", "work (app.py:12)"},
		{"net/http.(*Client).Do", "net/http.(*Client).Do", "net/http.(*Client).Do"},
		{"f(x) y", "f(x) y", "f(x) y"},
		{"a<b", "a<b", "a<b"},
		{"a<b<c>", "a<b<c>", "a<b<c>"},
		{"f(a", "f(a", "f(a"},
		{"a>b", "a>b", "a>b"},
		{"(a)", "(a)", "(a)"},
		{"<lambda>", "<lambda>", "<lambda>"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_BUF struct buf out = {0};
		buf_str(&out, "");
		short_name(&out, rows[i].name, strlen(rows[i].name), 0);
		assert_string_equal(out.data, rows[i].shorter);
		buf_clear(&out);
		buf_str(&out, "");
		short_name(&out, rows[i].name, strlen(rows[i].name), SHORT_PARAMETERS);
		assert_string_equal(out.data, rows[i].parameters);
	}
}

static void add(struct profile *profile, const char *name)
{
	function_id function =
		profile_function(profile, (struct function){.name = profile_string(profile, name, strlen(name))});
	frame_id frame = profile_frame(profile, (struct frame){.function = function});
	profile_add(profile, THREAD_UNKNOWN, profile_stack(profile, STACK_ROOT, frame),
		    profile_value(profile, "samples", ""), 1);
}

static const char *shown(const struct profile *profile, const struct short_names *names, const char *name)
{
	return names->texts[strpool_find(&profile->strings, name, strlen(name))].text;
}

static void short_forms_are_as_distinct_as_the_names(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shown;
	} rows[] = {
		{"alone<int>(int)", "alone"},
		{"over(int)", "over(int)"},
		{"over(char const*)", "over(char const*)"},
		{"int instance<int>()", "instance<int>"},
		{"int instance<long>()", "instance<long>"},
		{"plain", "plain"},
		{"plain(int)", "plain(int)"},
		{"int returned()", "int returned()"},
		{"long returned()", "long returned()"},
		{"run()::{lambda()#1}::operator()() const", "run::{lambda()#1}::operator()"},
		{"run()::{lambda()#2}::operator()() const", "run::{lambda()#2}::operator()"},
		{"both<int>(a)", "both<int>(a)"},
		{"both<int>(b)", "both<int>(b)"},
		{"both<long>(a)", "both<long>(a)"},
		{"both<long>(b)", "both<long>(b)"},
	};
	struct profile profile;
	struct short_names names;
	profile_init(&profile);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		add(&profile, rows[i].name);
	short_names_build(&names, &profile);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(shown(&profile, &names, rows[i].name), rows[i].shown);
	short_names_release(&names);
	profile_release(&profile);
}

static void long_forms_lose_their_middle_and_stay_distinct(void **state)
{
	(void)state;
	struct profile profile;
	struct short_names names;
	profile_init(&profile);
	CLEANUP_BUF struct buf text = {0};
	const char *forms[50];
	for (int i = 0; i < 50; i++) {
		buf_clear(&text);
		for (int part = 0; part < 60; part++)
			buf_printf(&text, "part%02d::", part == 30 ? i : 99);
		buf_str(&text, "f");
		add(&profile, text.data);
	}
	short_names_build(&names, &profile);
	for (int i = 0; i < 50; i++) {
		const struct short_text *form = &names.texts[profile.functions[i].name];
		assert_true(form->length < 150);
		assert_string_equal(form->text + form->length - 3, "::f");
		forms[i] = form->text;
		for (int other = 0; other < i; other++)
			assert_string_not_equal(forms[other], form->text);
	}
	short_names_release(&names);
	profile_release(&profile);
}

static void trees_have_short_labels_when_asked(void **state)
{
	(void)state;
	struct profile profile;
	profile_init(&profile);
	add(&profile, "over(int)");
	add(&profile, "over(long)");
	add(&profile, "alone(int)");
	struct calltree_options options = {.values = {0, PROFILE_NONE}, .names = LABELS_SHORT};
	struct calltree tree;
	calltree_build(&tree, &profile, &options);
	assert_int_equal(tree.count, 4);
	assert_string_equal(tree.labels[tree.label[1]].text, "alone");
	assert_string_equal(tree.labels[tree.label[2]].text, "over(int)");
	assert_string_equal(tree.labels[tree.label[3]].text, "over(long)");
	calltree_release(&tree);
	profile_release(&profile);
}

static void patterns_match_the_name_and_its_short_form(void **state)
{
	(void)state;
	static const char *const exact[] = {"ns::f", NULL}, *const begin[] = {"ns::f(*", NULL},
				 *const perf[] = {"ns::f<int>", NULL}, *const other[] = {"ns::g", NULL};
	const char name[] = "void ns::f<int>(long)";
	assert_true(match_function(exact, name));
	assert_false(match_function(begin, name));
	assert_true(match_function(perf, name));
	assert_false(match_function(other, name));
	assert_true(match_written("ns::f", 5, name, strlen(name)));
	assert_true(match_written(name, strlen(name), name, strlen(name)));
	assert_false(match_written("ns", 2, name, strlen(name)));
	assert_true(match_part("NS::F", name));
	assert_true(match_part("long", name));
	assert_false(match_part("other", name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shortened),
		cmocka_unit_test(short_forms_are_as_distinct_as_the_names),
		cmocka_unit_test(long_forms_lose_their_middle_and_stay_distinct),
		cmocka_unit_test(trees_have_short_labels_when_asked),
		cmocka_unit_test(patterns_match_the_name_and_its_short_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
