/** Sings and counts songs. A plugin uses it: see runtime/tests/plugins/listener. */
class Singer extends Actor;

/** Number of songs. */
var() int songs;

/** Sings `times` songs; returns the number of all songs. */
function int sing(int times)
{
    songs += times;
    return songs;
}
