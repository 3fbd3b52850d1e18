// expect: TestUp = 0
// expect: TestDown = 255
class Program extends Object;

function byte TestUp() { local byte b; b = 255; b++; return b; }
function byte TestDown() { local byte b; b--; return b; }
