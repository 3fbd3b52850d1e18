// compile-only
class Program extends Actor;

var set<byte> Bytes; var map<name, float> Weights; var float Weight;
function Test() { if (set_has(Bytes, 5)) map_find(Weights, 'a', Weight); map_put(Weights, 'b', 3); show_anything(5); show_anything("x"); show_anything(self); }
