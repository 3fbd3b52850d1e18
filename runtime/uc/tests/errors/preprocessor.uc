class Program extends Actor;

`include(Types.uci)
#exec TEXTURE IMPORT NAME=X FILE=Y.pcx
#if DEBUG
function Test() {
    `log("x" @ Health);
    `{Name}
    Health = `Constant;
    #endif
}
