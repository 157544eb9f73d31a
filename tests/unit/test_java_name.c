/* Names of Java methods in perf maps. */
#include "name/java_name.h"
#include "unit.h"

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shown; /* NULL: it is no Java method */
	} rows[] = {
		{"int Names.twice(int)", "Names.twice(int)"},
		{"void java.lang.Object.<init>()", "java.lang.Object.<init>()"},
		{"int[] Names.arr(int)", "Names.arr(int)"},
		{"java.lang.String[][] a.B$C.d(java.lang.Object, int[])", "a.B$C.d(java.lang.Object, int[])"},
		{"int Names$$Lambda$1/0x00007f4228000400.run(int)", "Names$$Lambda.run(int)"},
		{"int Names$$Lambda/0x00007f4228000400.run(int)", "Names$$Lambda.run(int)"},
		{"int Names$$Lambda+0x00007f4228000400.run(int)", "Names$$Lambda.run(int)"},
		{"long java.lang.invoke.LambdaForm$MH/0x00007f4228002000.invoke(java.lang.Object, long)",
		 "java.lang.invoke.LambdaForm$MH.invoke(java.lang.Object, long)"},
		{"int Names.lambda$main$0(int)", "Names.lambda$main$0(int)"},
		{"Lorg/example/Main;::run", "org.example.Main::run"},
		{"Lorg/x/Y;.call(Lorg/z;)V", "org.x.Y.call"},
		{"LMain;::run", "Main::run"},
		{"Interpreter", NULL},
		{"I2C/C2I adapters", NULL},
		{"StubRoutines (1)", NULL},
		{"unwind_exception Runtime1 stub", NULL},
		{"JS:*leaf /tmp/app.js:1:14", NULL},
		{"LazyCompile:*f app.js:1", NULL},
		{"py::f:/tmp/a.py", NULL},
		{"void f(int)", NULL},
		{"void ns::f<int>(int) const", NULL},
		{"void [System.Private.CoreLib] System.Foo::Bar(int32)[Tier0]", NULL},
		{"L", NULL},
		{"L;", NULL},
		{"L;::x", NULL},
		{"", NULL},
		{"int ", NULL},
		{"int (", NULL},
		{"int a.b(", NULL},
		{"/0x", NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_BUF struct buf out = {0};
		assert_int_equal(java_name(&out, rows[i].name), rows[i].shown != NULL);
		buf_char(&out, '\0');
		assert_string_equal(out.data, rows[i].shown ? rows[i].shown : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
