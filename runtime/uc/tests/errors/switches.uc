class Program extends Actor;

function Test() {
    switch (Health) { case 1: case 2: case 1: break; default: break; default: break; }
    switch (Label) { case 5: break; }
    switch (phase) { case PHASE_Over: case PHASE_Ovr: break; }
    switch (Location) { case none: break; }
}
