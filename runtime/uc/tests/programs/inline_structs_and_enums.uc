// expect: Test = 2
// expect: TestEnum = 1
class Program extends Object;

var struct Point { var int X, Y; } Spot;
var enum EColor { C_Red, C_Green } Color;
function int Test() { Spot.X = 2; return Spot.X; }
function int TestEnum() { Color = C_Green; return Color; }
