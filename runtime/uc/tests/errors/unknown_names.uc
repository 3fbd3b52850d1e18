class Program extends Actor;

function Test() {
    local int Counter;
    Countr = 5;
    Helth = 3;
    Missing(5);
    Missing(6);
    self.Labl = "x";
    Owner.Destory();
    Location.W = 5;
    Health.X = 1;
    INDEX = 3;
    PHASE_Runing = 2;
    Health = class'Program'.const.Nothing;
    const LIMIT = 5;
    Health = Limt;
}
