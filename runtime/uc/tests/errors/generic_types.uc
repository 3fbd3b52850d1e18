class Program extends Actor;

var array A;
var array<int, int> B;
var class<int> C;
var map<int> D;
var map<array<int>, int> F;
var foo<int> G;
var set<array<int> > H;
var weak<Vector> I;
var delegate<Nothing> J;
var array<array<array<array<array<array<array<array<array<array<array<array<array<int> > > > > > > > > > > > > K;
