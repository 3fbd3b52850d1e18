// nothing here

var int A;
function F() {}
