class Program extends Actor;

auto state Idle { function Test() {} Begin: Sleep(5); goto Begin; }
state Busy extends Idle { ignores Touch; }
function Test() { goto Here; Here: stop; GotoState('Idle'); }
