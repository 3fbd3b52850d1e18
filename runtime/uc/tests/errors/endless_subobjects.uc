class Program extends Actor;
var Program Sub;
defaultproperties
{
    Begin Object Class=Program Name=Me
    End Object
    Sub=Me
}
// file: A.uc
class A extends Actor;
var B Other;
defaultproperties
{
    Begin Object Class=B Name=First
    End Object
    Begin Object Class=Actor Name=Fine
    End Object
}
// file: B.uc
class B extends Actor;
defaultproperties
{
    Begin Object Class=C Name=Second
    End Object
}
// file: C.uc
class C extends A;
defaultproperties
{
    // Of the base class, without a new subobject.
    Begin Object Name=First
        label="x"
    End Object
    Begin Object Class=Actor Name=Third
    End Object
}
