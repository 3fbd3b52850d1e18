class Program extends B;

// file: B.uc
class B extends Program;
