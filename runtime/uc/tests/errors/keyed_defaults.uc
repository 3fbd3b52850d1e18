class Program extends Actor;

var map<string, int> Known;
var set<name> Seen;
var optional<int> Perhaps; struct Held { var Actor A; var array<Actor> L; structdefaultproperties { A=Actor'Hall.Door'; L(0)=Actor'Hall.Door'; L(1)=none } };

defaultproperties
{
    Known=(("a",1),("a",2))
    Known=(("a",1,2))
    Known=("a","b")
    Known=(a=1)
    Known=5
    Known=(("a","b"))
    Seen=(A,B,A)
    Seen=x
    Seen.Add(x)
    Known[1]=2
    Perhaps=5
}
