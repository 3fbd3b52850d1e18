// compile-only
class Program extends Actor;

function Test() { Log("text" @ Len("abc") @ Abs(-3.5)); Log(5, 'Category'); health = Clamp(Health, 0, 100); label = Caps(tag); }
