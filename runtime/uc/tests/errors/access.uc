class Program extends Actor;

var Other Other;
var const int K;
function Test() {
    secret = 5;
    Health = secret;
    seed = 4;
    Other.A = 5;
    Other.B = 5;
    Other.C = 5;
    Other.Own();
    Other.Family();
    K = 5;
    Health = default.secret + class'Actor'.default.secret;
}
// file: Other.uc
class Other extends Object;
var private int A;
var protected int B;
var privatewrite int C;
private function Own() {}
protected function Family() {}
