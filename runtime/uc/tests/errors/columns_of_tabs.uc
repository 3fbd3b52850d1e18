class Program extends Actor;

	var Nope y;
function A()
{
		Missing(); /* long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long  */	Gone();
	}
	function A() {}
