class Program extends Actor;

function Test() {
    break;
    continue;
    switch (Health) { case 1: continue; }
    while (true) { break; }
}
