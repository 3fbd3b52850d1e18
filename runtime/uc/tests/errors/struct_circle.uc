class Program extends Actor;

struct One { var Two T; };
struct Two { var array<One> O; };
struct Self { var Self S; };
