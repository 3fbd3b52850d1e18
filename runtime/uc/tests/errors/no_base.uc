class Program;

var int A;
