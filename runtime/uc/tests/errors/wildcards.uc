class Program extends Actor;

struct Item { var int Cost; };
var array<Item> Items; var array<int> Numbers; var Item One;
function Test() {
    ShowStructFields(5);
    ShowStructFields(Items);
    array_numeric_property_average(One, 'Cost');
    array_numeric_property_average(Items);
    array_add(Items, 5);
    array_add(Numbers, "x");
    array_append(Items, Numbers);
    One = array_last(Numbers);
    array_add(array_last(Items), One);
}
