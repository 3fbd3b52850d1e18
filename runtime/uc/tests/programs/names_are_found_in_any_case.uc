// expect: Test = 5
class Program extends Object;

VAR INT Count;
FUNCTION int Test() { LOCAL INT I; i = 2; COUNT = 3; RETURN count + I; }
