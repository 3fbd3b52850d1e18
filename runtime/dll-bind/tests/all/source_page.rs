//! Makes the three calls of the Unreal documentation page on `DLLBind`. The code is unchanged, except that it shows no message boxes.

use alcedo_dll_bind::Import;
use alcedo_reflect::value::Value;

use crate::support::{Fixture, ints, plain, structure, text, ty};

const SOURCE: &str = "
typedef struct { float x, y, z; } vector;
void CallDLL1(unit* s) {
    int len = 0;
    while (s[len]) len++;
    for (int i = 0; i < len >> 1; i++) { unit temp = s[i]; s[i] = s[len - i - 1]; s[len - i - 1] = temp; }
}
vector* CallDLL2(float x, float y, float z) {
    static vector result;
    result.x = x; result.y = y; result.z = z;
    return &result;
}
uint32_t CallDLL3(unit* s, int32_t i[2], float* f, vector* v) {
    float old = v->x;
    v->x = i[0]; v->y = i[1]; v->z = *f;
    *f = old;
    return s[0] == 'o';
}
";

fn vector(x: f32, y: f32, z: f32) -> Value {
    structure([("x", Value::F32(x)), ("y", Value::F32(y)), ("z", Value::F32(z))])
}

#[test]
fn the_three_calls_match_the_page() {
    let fixture = Fixture::new(SOURCE);
    let vector_type = || ty(&[("Vector", &[("x", "f32"), ("y", "f32"), ("z", "f32")])], "/Script/Test.Vector");
    let one = Import::new("CallDLL1").out("s", plain("String"));
    assert_eq!(fixture.call(&one, &[text("drawrof")]).1, [text("forward")]);
    let float = || plain("f32");
    let two =
        Import::new("CallDLL2").param("x", float()).param("y", float()).param("z", float()).returns(vector_type());
    let floats = [1.5, -2.0, 1e30].map(Value::F32);
    assert_eq!(fixture.call(&two, &floats).0, Some(vector(1.5, -2.0, 1e30)));
    let three = Import::new("CallDLL3").param("s", plain("String")).array("i", plain("Array(i32)"), 2);
    let three = three.out("f", float()).out("v", vector_type()).returns(plain("bool"));
    for (argument, expected) in [("ok", true), ("no", false)] {
        let arguments = [text(argument), ints(&[7, -8]), Value::F32(0.5), vector(1.0, 2.0, 3.0)];
        let out_parameters = vec![Value::F32(1.0), vector(7.0, -8.0, 0.5)];
        assert_eq!(fixture.call(&three, &arguments), (Some(Value::Bool(expected)), out_parameters));
    }
}
