// compile-only
class Program extends Actor;

event ReceiveTick(float DeltaSeconds) { Location += vect(0,0,1) * DeltaSeconds; Health = Max(Health - 1, 0); }
event receive_begin_play() { label = "begun"; tags.AddItem('begun'); }
event bool TakeDamage(int Amount, out int Absorbed) { Absorbed = Amount / 2; return super.TakeDamage(Amount, Absorbed); }
function float Far(Actor Other) { return GetDistance(Other) + self.get_distance(Other); }
