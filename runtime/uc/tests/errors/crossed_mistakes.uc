class Program extends Actor;

function int Sum(array<int> Values) {
    local int i total;
    for (i = 0; i < Values.Lenght; i++ {
        total += Values[i];
    }
    return totl;
}
function Good() { Health = Label; }
