/** What is measured, as a user writes it. */
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

/** The same, as a function that subclasses override. */
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

/** Steps of a point with a velocity that gets less, and a length. */
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
