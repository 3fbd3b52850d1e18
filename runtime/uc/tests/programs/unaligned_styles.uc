// compile-only
class Program extends Actor;

var   int    A ,B;
function Test( ){if(A==1)B=2;else if(A==2){B=3;}else{B=4;}for(A=0;A<3;A++)B+=A;while(A>0)A--;do{A++;}until(A>5);switch(A){case 1:B=1;break;default:B=2;}}
