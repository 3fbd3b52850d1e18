// expect: Test = rex barks 2; tom purrs 3; rex has 6
// expect: TestCasts = yes no yes yes
// expect: TestCalls = 9
// expect: TestNone = 
class Program extends Object;

var array<Pet> Pets;
var Loud Voice;

function string Speak(Pet P, int Times) { return P.Named() @ P.Sound(Times); }

function string Test()
{
    local Dog D;
    local Cat C;
    local Pet P;
    local string S;

    D = new class'Dog';
    C = new class'Cat';
    Pets.AddItem(D);
    Pets.AddItem(C);
    S = Speak(Pets[0], 2) $ ";" @ Speak(C, 3);
    P = D;
    P.Feed(6);
    return S $ ";" @ D.Named() @ "has" @ D.Food;
}

function string TestCasts()
{
    local Pet P;
    local Loud L;
    local Object O;
    local string S;

    P = new class'Dog';
    L = Loud(P);
    S = L != none ? "yes" : "no";
    P = new class'Cat';
    S @= Loud(P) != none ? "yes" : "no";
    O = P;
    S @= Pet(O) != none ? "yes" : "no";
    S @= Cat(P) != none ? "yes" : "no";
    return S;
}

function int TestCalls()
{
    local Loud L;
    local Named N;
    local int Out;

    L = new class'Puppy';
    Voice = L;
    N = Named(Voice);
    Voice.Count(4, Out);
    return Out + (N.Named() == "rex" ? 3 : 0);
}

function string TestNone()
{
    local Pet P;
    return P.Named();
}
// file: Named.uc
interface Named extends Interface;

/** What it is called. */
function string Named();
// file: Pet.uc
interface Pet extends Named;

enum EFood { FOOD_None, FOOD_Much };
struct Bowl { var int Food; };

function string Sound(int Times);
event Feed(int Amount);
// file: Loud.uc
interface Loud
    extends Pet;

simulated function bool Count(int By, out int Sum, optional string Label);

defaultproperties
{
}
// file: Animal.uc
class Animal extends Object abstract implements(Pet);

var string Name;
var int Food;

function string Named() { return Name; }
function string sound(int Times) { return "is quiet"; }
function Feed(int Amount) { Food += Amount; }
// file: Dog.uc
class Dog extends Animal implements(Loud, Pet);

var Bowl B;

function string Sound(int Times) { return "barks" @ Times; }
function bool Count(int By, out int Sum, optional string Label) { Sum += By; return true; }

defaultproperties
{
    Name="rex"
}
// file: Puppy.uc
class Puppy extends Dog;

function bool count(int By, out int Sum, optional string Label) { Sum += By + 2; return false; }
// file: Cat.uc
class Cat extends Animal;

function string Sound(int Times) { return "purrs" @ Times; }

defaultproperties
{
    Name="tom"
}
