class Program extends Actor;

static final operator(20) vector * (vector A, int B) { return A; }
static final preoperator bool ! (int A) { return A == 0; }
static final postoperator int ++ (out int A) { return A; }
function Test() { Health = Missing; }
static final operator(24) bool < (Color A, Color B) { return A.R < B.R; }
static final operator(22) vector <+> (vector A, vector B) { return A; }
static final preoperator string # (int A) { return ""; }
function After() { local Color C; local vector V; Health = C < C ? 1 : 2; V = Location * Owner; V = V % V; }
function UsesSigns() { Label = #Health; }
function Unknown() { local vector V; V = Location <=> V; V = Location <+> V; Health = Health<-Health ? 1 : 2; }
