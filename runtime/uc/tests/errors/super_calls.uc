class Program extends Actor;

function Test() {
    super.Nothing();
    super(Pawn).Test();
    super(Missing).Test();
    super(Program).Test();
    super.ReceiveTick();
    super;
    global;
    default;
}
