class Program extends Actor;

var optional<byte> Tiny;
var optional<string> Word;
function A(optional<int> Given)
{
    Tiny = 300;
    Tiny = "a";
    Word = 3;
    Given = none;
    Tiny = Given;
}
