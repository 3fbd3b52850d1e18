/**
 * An actor that can be hurt, and heals with time.
 */
class Hero extends Actor;

/** State of a hero. */
enum Mood
{
    Calm,
    Hurt,
    Gone
};

/** A blow that the hero took. */
struct Blow
{
    var string From;
    var int Amount;
};

/** From 0 to 100. */
var() int Health;
/** Points of health restored per second. */
var() float Healing;
var Mood Now;
var array<Blow> Blows;
var float Healed;

/** Takes a blow, and returns the remaining health. */
function int Strike(string From, int Amount)
{
    local Blow Last;

    Last.From = From;
    Last.Amount = Amount;
    Blows.AddItem(Last);
    Health = Max(Health - Amount, 0);
    Now = Health == 0 ? Gone : Hurt;
    return Health;
}

/** The average of all blows so far. */
function float AverageBlow()
{
    return array_numeric_property_average(Blows, 'Amount');
}

event ReceiveTick(float DeltaSeconds)
{
    super.ReceiveTick(DeltaSeconds);
    if (Now != Hurt)
    {
        return;
    }
    Healed += Healing * DeltaSeconds;
    while (Healed >= 1.0 && Health < 100)
    {
        Healed -= 1.0;
        Health++;
    }
    if (Health >= 100)
    {
        Now = Calm;
    }
}

defaultproperties
{
    Health=100
    Healing=5.0
    CanTick=true
    Label="A hero of a script"
}
