class Program extends Actor;

function Test() { Health = Größe; Lábel = "täxt"; Label = "täxt"; tag = 'näme'; Missing2 = 5; }
