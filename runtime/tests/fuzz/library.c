// The library of corpus/library: gcc -shared -fPIC -O1 -nostartfiles -s -Wl,-z,noseparate-code,-z,max-page-size=4096,-z,norelro
// -Wl,--hash-style=both,--build-id=none,--version-script,V -o c.so library.c -lm, where V is
// ONE { global: local; resolved; }; TWO { global: answer; local: *; } ONE;
extern double sin(double);
__attribute__((constructor)) static void up(void) {}
__attribute__((destructor)) static void down(void) {}
__thread int local = 3;
int zeroes[9];
int numbers[10] = { 1 };
int *relocated[] = { &numbers[7], &numbers[9], zeroes };
static int one(void) { return 1; }
static int (*resolve(void))(void) { return one; }
int resolved(void) __attribute__((ifunc("resolve")));
double answer(double x) { return sin(x) + *relocated[1] + local + resolved(); }
__attribute__((section(".alcedo.manifest"), used)) static const char manifest[] = "no manifest";
