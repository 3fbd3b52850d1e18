// compile-only
class Program extends Actor implements(Sings);

function string Sing(int Verse) { return "la" @ Verse; }
function string Test() { local Sings s; s = self; singer = s; if (singer != none) return singer.Sing(2); return Actor(s).Label; }
