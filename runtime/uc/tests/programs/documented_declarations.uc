// compile-only
class Program extends Actor;

/** How many there are. */
var int Amount<ToolTip=How many|ClampMin=0>;
/** What it is. */
enum EWhat { W_One<DisplayName=One>, W_Two };
/**
 * Says it.
 * Twice.
 */
function Say() {}
