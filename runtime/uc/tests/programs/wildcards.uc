// compile-only
class Program extends Actor;

struct Item { var string Word; var int Cost; };
var array<Item> Items; var array<float> Numbers;
function float Test() {
    local Item i;
    ShowStructFields(i);
    show_struct_fields(Location);
    ArrayAdd(Items, i);
    array_add(Numbers, 3);
    array_append(Numbers, Numbers);
    i = array_last(Items);
    return array_numeric_property_average(Items, 'Cost');
}
