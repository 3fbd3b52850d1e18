// expect: Test = 17.0000
class Program extends Object;

function float Test() {
    local array<Shape> all; local Shape s; local float sum; local Square q; local Rectangle r;
    q = new class'Square'; q.Side = 3; all.AddItem(q);
    r = new class'Rectangle'; r.Width = 2; r.Height = 4; all.AddItem(r);
    foreach all(s) sum += s.Area();
    return sum;
}
// file: Shape.uc
class Shape extends Object abstract;
function float Area() { return 0; }
// file: Square.uc
class Square extends Shape;
var float Side;
function float Area() { return Side * Side; }
// file: Rectangle.uc
class Rectangle extends Shape;
var float Width, Height;
function float Area() { return Width * Height; }
