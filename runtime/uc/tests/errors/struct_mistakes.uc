class Program extends Actor;

struct Bad { var int A; function F() {} };
struct Worse extends Missing { var Nothing N; };
struct Odd extends Phase { var int B; };
struct Fine { var int C; structdefaultproperties { C="x"; D=5 } };
struct Finer extends Fine { structdefaultproperties { C=3 } };
function Test() { local Fine f; f.D = 5; f.C = "x"; f.C = 5; }
