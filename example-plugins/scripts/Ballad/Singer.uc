/** Sings, and knows how often. A plugin listens to it: see runtime/tests/plugins/listener. */
class Singer extends Actor;

/** How many songs there were. */
var() int songs;

/** Sings so many songs; gives how many there were in all. */
function int sing(int times)
{
    songs += times;
    return songs;
}
