// expect: Test = 3
class Program extends Object;

/* outer /* inner */ still outer */
// a line
function int Test() { /* a */ return 1 + /* b /* c */ d */ 2; // end
}
