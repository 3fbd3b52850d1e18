// expect: Test = xxxxx
class Program extends Object;

function string Test() { local string s; local int i; for (i = 0; i < 5; i++) s $= "x"; return s; }
