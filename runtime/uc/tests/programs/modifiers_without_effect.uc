// compile-only
class Program extends Actor config(Game) placeable native hidecategories(A, B) within Object;

var(Display) editconst int A; var() config float B; var private transient bool C; var protected const int D; var editinline export Component E; var localized string F;
simulated function One() {} exec function Two() {} singular event Three() {} final function Four() {} protected function Five() {} reliable server function Six() {} noexport function Seven() {}
