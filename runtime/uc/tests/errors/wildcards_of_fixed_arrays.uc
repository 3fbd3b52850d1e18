class Program extends Actor;

struct Part { var int X[3]; };
var int Fixed[4];
var Part P;
var array<int> List;
var map<string, int> M;
function A()
{
    local int Mine[2];
    array_add(Fixed, 3);
    array_append(Mine, List);
    array_append(P.X, List);
    map_find(M, "a", Fixed);
    // They may be read.
    array_append(List, Fixed);
    array_append(List, P.X);
    List.AddItem(array_last(Fixed));
}
