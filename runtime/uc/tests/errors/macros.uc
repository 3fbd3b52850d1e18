class Program extends Actor;

`define MAXX 5
`define Both(a,b) `a `b
`define Line a \
  b { \
  c
var int Before;
`Both(var int, X;)
function A() { `log("a"); `log("b" $ `MAXX, , 'X'); `warn("x") }
function int B() { return `MAXX; }
function int C() { local int i; i = `MAXX + `MAXX * 2; i += `Both(1,2); if (i == `MAXX) return `{MAXX}; `if(`isdefined(X)) i = 1; `else i = 2; `endif return i; }
function D() { Foo`{Suffix}(1); `{Prefix}Bar(2); `Prefix.Baz(); x = y`{z}; }
function E(`{Type} P, int `Name) { }
var `{Type} F;
var array<`Type> G;
var int H[`MAXX];
const I = `MAXX;
enum EJ { `Entries, EJ_B };
struct K { var `Type L; `Fields };
function `Type N();
`function O();
event P() { switch (1) { case `MAXX: break; `Cases } for (`i = 0; `i < 3; `i++) { } while (`cond) {} foreach `List(a) {} local `Type z; }
state Q { function R() { `log("}"); } `define S { 
}
function T() { `S(1, (2), "3)", ')') ; Before = 1; }
function U() { `log("multi" @
	"line"); Before = 2; }
defaultproperties
{
	Before=`MAXX
	`Line
	Before=(`X)
	Other=(A=`X,B=2)
	`{Name}=5
	Before=3
}
