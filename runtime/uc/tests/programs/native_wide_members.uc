// compile-only
class Program extends Actor;

function Test() {
    distance_run += 1.5; ticks++; mask = 5; small = 3; phase = PHASE_Over; phase = Phase.PHASE_Running;
    if (phase == PHASE_Waiting && ticks > 10 && distance_run < 2) ticks = seed;
    scores['a'] = scores['a'] + 1; marks.Add(4); title = "text"; label = title;
    maybe = 3; if (maybe.IsSet()) health = maybe.Get(); maybe.Reset();
}
