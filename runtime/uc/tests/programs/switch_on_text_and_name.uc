// expect: TestText = 2
// expect: TestName = 1
class Program extends Object;

function int TestText() { switch ("b") { case "a": return 1; case "b": return 2; } return 0; }
function int TestName() { switch ('x') { case 'x': return 1; } return 0; }
