class Program extends Actor;

struct A { var int X[65536]; };
struct Row { var A One[16]; };
struct B { var A Many[65536]; var int Y; };
struct Holder { var B Held; };
var B Big;
var Row First;
var int Last;
var Row Second[2];
function F(int A, A Given)
{
    local Row R;
    local A Other;
}
// file: Below.uc
class Below extends Program;
var int X[65536];
defaultproperties
{
    X=(1,2)
}
// file: Filled.uc
class Filled extends Actor;
struct Part { var int X[65536]; };
var array<Part> Parts;
defaultproperties
{
    Parts=((X=(1)))
    Parts(65000)=(X[2]=5)
    Parts(1)=(X[1]=1)
    Parts(2)=(X[1]=2)
    Parts(3)=(X[1]=3)
    Parts(4)=(X[1]=4)
    Parts(5)=(X[1]=5)
    Parts(6)=(X[1]=6)
    Parts(7)=(X[1]=7)
    Parts(8)=(X[1]=8)
    Parts(9)=(X[1]=9)
    Parts(10)=(X[1]=10)
    Parts(11)=(X[1]=11)
    Parts(12)=(X[1]=12)
    Parts(13)=(X[1]=13)
    Parts(14)=(X[1]=14)
    Parts(15)=(X[1]=15)
    Parts(16)=(X[1]=16)
    Parts(17)=(X[1]=17)
    Parts(18)=(X[1]=18)
    Parts(19)=(X[1]=19)
    Parts(20)=(X[1]=20)
    Parts(21)=(X[1]=21)
    Parts(22)=(X[1]=22)
    Parts(23)=(X[1]=23)
    Parts(24)=(X[1]=24)
    Parts(25)=(X[1]=25)
    Parts(26)=(X[1]=26)
    Parts(27)=(X[1]=27)
    Parts(28)=(X[1]=28)
    Parts(29)=(X[1]=29)
    Parts(30)=(X[1]=30)
    Parts(31)=(X[1]=31)
    Parts(32)=(X[1]=32)
    Parts(33)=(X[1]=33)
    Parts(34)=(X[1]=34)
    Parts(35)=(X[1]=35)
    Parts(36)=(X[1]=36)
    Parts(37)=(X[1]=37)
    Parts(38)=(X[1]=38)
    Parts(39)=(X[1]=39)
    Parts(40)=(X[1]=40)
    Parts(41)=(X[1]=41)
    Parts(42)=(X[1]=42)
    Parts(43)=(X[1]=43)
    Parts(44)=(X[1]=44)
    Parts(45)=(X[1]=45)
    Parts(46)=(X[1]=46)
    Parts(47)=(X[1]=47)
    Parts(48)=(X[1]=48)
    Parts(49)=(X[1]=49)
    Parts(50)=(X[1]=50)
    Parts(51)=(X[1]=51)
    Parts(52)=(X[1]=52)
    Parts(53)=(X[1]=53)
    Parts(54)=(X[1]=54)
    Parts(55)=(X[1]=55)
    Parts(56)=(X[1]=56)
    Parts(57)=(X[1]=57)
    Parts(58)=(X[1]=58)
    Parts(59)=(X[1]=59)
    Parts(60)=(X[1]=60)
    Parts(61)=(X[1]=61)
    Parts(62)=(X[1]=62)
    Parts(63)=(X[1]=63)
    Parts(64)=(X[1]=64)
    Parts(65)=(X[1]=65)
    Parts(66)=(X[1]=66)
    Parts(67)=(X[1]=67)
    Parts(68)=(X[1]=68)
    Parts(69)=(X[1]=69)
    Parts(70)=(X[1]=70)
}
