

using System;
public class Foo { int x; }
#include <stdio.h>
int main() { return 0; }
def f(x): return x
