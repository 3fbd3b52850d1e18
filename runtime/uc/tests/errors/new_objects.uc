class Program extends Actor;

function Test() {
    local Component c; local Actor a;
    c = new class'Missing';
    c = new class'Actor';
    c = new Component;
    a = new(5) class'Actor';
    a = new(self, 5) class'Actor';
    a = new(self, "x", 5) class'Actor';
    a = new class'Program'(c);
    a = new class'Hidden';
}
// file: Hidden.uc
class Hidden extends Actor abstract;
