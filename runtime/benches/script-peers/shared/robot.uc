/** Functions that the benchmarks measure, in the style of user code. */
class Robot extends Machine;

var int energy;
var array<Row> rows;

function int looping(int n)
{
    local int i, s;

    for (i = 0; i < n; i++)
    {
        s = (s * 31 + i) % 65536;
    }
    return s;
}

final function int fib(int n)
{
    if (n < 2)
    {
        return n;
    }
    return fib(n - 1) + fib(n - 2);
}

/** Fibonacci function that a subclass can override, so that its calls are virtual. */
function int virtual_fib(int n)
{
    if (n < 2)
    {
        return n;
    }
    return virtual_fib(n - 1) + virtual_fib(n - 2);
}

function property(int n)
{
    local int i;

    for (i = 0; i < n; i++)
    {
        energy = energy + 1;
    }
}

function int native_call(int n)
{
    local int i, s;

    for (i = 0; i < n; i++)
    {
        s = add(s, i);
    }
    return s;
}

function float average(name field)
{
    return array_numeric_property_average(rows, field);
}

/** Scales, adds and multiplies vectors in a loop. */
function float vectors(int n)
{
    local vector at, by;
    local float sum;
    local int i;

    by = vect(1, 2, 3);
    for (i = 0; i < n; i++)
    {
        at = at + by * 0.5;
        sum = sum + (at dot by);
        at = at - by * 0.25;
    }
    return sum;
}
