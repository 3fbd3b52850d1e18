// expect: TestSets = True False
// expect: TestMaps = True False
class Program extends Object;

function string TestSets()
{
    local set<int> A, B;
    local bool First;

    A.Add(1);
    A.Add(2);
    B.Add(2);
    B.Add(1);
    First = A == B;
    B.Add(3);
    return First @ (A == B);
}

function string TestMaps()
{
    local map<name, int> A, B;
    local bool First;

    A['x'] = 1;
    A['y'] = 2;
    B['y'] = 2;
    B['x'] = 1;
    First = A == B;
    B['x'] = 3;
    return First @ (A == B);
}
