//! What keeps to each rule, as one program: see `tests/rules.rs`. A module is a program by itself, so those of `module!` are not
//! among these.
#![allow(unused)]

#[path = "rules/ALC0001.rs"]
mod alc0001;
#[path = "rules/ALC0002.rs"]
mod alc0002;
#[path = "rules/ALC0003.rs"]
mod alc0003;
#[path = "rules/ALC0004.rs"]
mod alc0004;
#[path = "rules/ALC0005.rs"]
mod alc0005;
#[path = "rules/ALC0006.rs"]
mod alc0006;
#[path = "rules/ALC0007.rs"]
mod alc0007;
#[path = "rules/ALC0008.rs"]
mod alc0008;
#[path = "rules/ALC0009.rs"]
mod alc0009;
#[path = "rules/ALC0010.rs"]
mod alc0010;
#[path = "rules/ALC0011.rs"]
mod alc0011;
#[path = "rules/ALC0012.rs"]
mod alc0012;
#[path = "rules/ALC0013.rs"]
mod alc0013;
#[path = "rules/ALC0014.rs"]
mod alc0014;
#[path = "rules/ALC0015.rs"]
mod alc0015;
#[path = "rules/ALC0016.rs"]
mod alc0016;
#[path = "rules/ALC0017.rs"]
mod alc0017;
#[path = "rules/ALC0018.rs"]
mod alc0018;
#[path = "rules/ALC0019.rs"]
mod alc0019;
#[path = "rules/ALC0020.rs"]
mod alc0020;
#[path = "rules/ALC0021.rs"]
mod alc0021;
#[path = "rules/ALC0022.rs"]
mod alc0022;
#[path = "rules/ALC0023.rs"]
mod alc0023;
#[path = "rules/ALC0024.rs"]
mod alc0024;
#[path = "rules/ALC0025.rs"]
mod alc0025;
#[path = "rules/ALC0026.rs"]
mod alc0026;
#[path = "rules/ALC0027.rs"]
mod alc0027;
#[path = "rules/ALC0028.rs"]
mod alc0028;
#[path = "rules/ALC0029.rs"]
mod alc0029;
#[path = "rules/ALC0030.rs"]
mod alc0030;
#[path = "rules/ALC0031.rs"]
mod alc0031;
#[path = "rules/ALC0032.rs"]
mod alc0032;
#[path = "rules/ALC0033.rs"]
mod alc0033;
#[path = "rules/ALC0034.rs"]
mod alc0034;
#[path = "rules/ALC0035.rs"]
mod alc0035;
#[path = "rules/ALC0036.rs"]
mod alc0036;
#[path = "rules/ALC0037.rs"]
mod alc0037;
#[path = "rules/ALC0038.rs"]
mod alc0038;
#[path = "rules/ALC0039.rs"]
mod alc0039;
#[path = "rules/ALC0040.rs"]
mod alc0040;
#[path = "rules/ALC0041.rs"]
mod alc0041;
#[path = "rules/ALC0042.rs"]
mod alc0042;
#[path = "rules/ALC0043.rs"]
mod alc0043;
#[path = "rules/ALC0044.rs"]
mod alc0044;
#[path = "rules/ALC0045.rs"]
mod alc0045;
#[path = "rules/ALC0046.rs"]
mod alc0046;
#[path = "rules/ALC0047.rs"]
mod alc0047;
#[path = "rules/ALC0048.rs"]
mod alc0048;
#[path = "rules/ALC0049.rs"]
mod alc0049;
#[path = "rules/ALC0050.rs"]
mod alc0050;
#[path = "rules/ALC0051.rs"]
mod alc0051;
#[path = "rules/ALC0052.rs"]
mod alc0052;
#[path = "rules/ALC0053.rs"]
mod alc0053;
#[path = "rules/ALC0054.rs"]
mod alc0054;
#[path = "rules/ALC0055.rs"]
mod alc0055;
#[path = "rules/ALC0056.rs"]
mod alc0056;
#[path = "rules/ALC0057.rs"]
mod alc0057;
#[path = "rules/ALC0058.rs"]
mod alc0058;
#[path = "rules/ALC0059.rs"]
mod alc0059;
#[path = "rules/ALC0060.rs"]
mod alc0060;
#[path = "rules/ALC0061.rs"]
mod alc0061;
#[path = "rules/ALC0062.rs"]
mod alc0062;
#[path = "rules/ALC0063.rs"]
mod alc0063;
#[path = "rules/ALC0064.rs"]
mod alc0064;
#[path = "rules/ALC0065.rs"]
mod alc0065;
#[path = "rules/ALC0066.rs"]
mod alc0066;
#[path = "rules/ALC0067.rs"]
mod alc0067;
#[path = "rules/ALC0068.rs"]
mod alc0068;
#[path = "rules/ALC0080.rs"]
mod alc0080;
#[path = "rules/ALC0081.rs"]
mod alc0081;
#[path = "rules/ALC0082.rs"]
mod alc0082;
#[path = "rules/ALC0083.rs"]
mod alc0083;
#[path = "rules/ALC0084.rs"]
mod alc0084;
#[path = "rules/ALC0085.rs"]
mod alc0085;
#[path = "rules/ALC0086.rs"]
mod alc0086;
#[path = "rules/ALC0087.rs"]
mod alc0087;
#[path = "rules/ALC0088.rs"]
mod alc0088;
#[path = "rules/ALC0089.rs"]
mod alc0089;
#[path = "rules/ALC0090.rs"]
mod alc0090;
#[path = "rules/ALC0091.rs"]
mod alc0091;
#[path = "rules/ALC0092.rs"]
mod alc0092;
#[path = "rules/ALC0093.rs"]
mod alc0093;
#[path = "rules/ALC0094.rs"]
mod alc0094;
#[path = "rules/ALC0095.rs"]
mod alc0095;
#[path = "rules/ALC0096.rs"]
mod alc0096;
#[path = "rules/ALC0097.rs"]
mod alc0097;
#[path = "rules/ALC0098.rs"]
mod alc0098;
#[path = "rules/ALC0099.rs"]
mod alc0099;
#[path = "rules/ALC0100.rs"]
mod alc0100;
#[path = "rules/ALC0101.rs"]
mod alc0101;
#[path = "rules/ALC0102.rs"]
mod alc0102;
#[path = "rules/ALC0103.rs"]
mod alc0103;
#[path = "rules/ALC0104.rs"]
mod alc0104;
#[path = "rules/ALC0105.rs"]
mod alc0105;
#[path = "rules/ALC0106.rs"]
mod alc0106;
#[path = "rules/ALC0107.rs"]
mod alc0107;
#[path = "rules/ALC0111.rs"]
mod alc0111;
#[path = "rules/ALC0112.rs"]
mod alc0112;
#[path = "rules/ALC0113.rs"]
mod alc0113;
#[path = "rules/ALC0114.rs"]
mod alc0114;
#[path = "rules/ALC0116.rs"]
mod alc0116;
#[path = "rules/ALC0117.rs"]
mod alc0117;
#[path = "rules/ALC0118.rs"]
mod alc0118;
#[path = "rules/ALC0140.rs"]
mod alc0140;
#[path = "rules/ALC0141.rs"]
mod alc0141;
#[path = "rules/ALC0142.rs"]
mod alc0142;
#[path = "rules/ALC0143.rs"]
mod alc0143;
#[path = "rules/ALC0144.rs"]
mod alc0144;
#[path = "rules/ALC0145.rs"]
mod alc0145;
#[path = "rules/ALC0146.rs"]
mod alc0146;
#[path = "rules/ALC0147.rs"]
mod alc0147;
#[path = "rules/ALC0148.rs"]
mod alc0148;
#[path = "rules/ALC0160.rs"]
mod alc0160;
#[path = "rules/ALC0161.rs"]
mod alc0161;
#[path = "rules/ALC0162.rs"]
mod alc0162;
#[path = "rules/ALC0163.rs"]
mod alc0163;
#[path = "rules/ALC0164.rs"]
mod alc0164;
#[path = "rules/ALC0165.rs"]
mod alc0165;
#[path = "rules/ALC0166.rs"]
mod alc0166;
#[path = "rules/ALC0167.rs"]
mod alc0167;
#[path = "rules/ALC0168.rs"]
mod alc0168;
#[path = "rules/ALC0170.rs"]
mod alc0170;
#[path = "rules/ALC0171.rs"]
mod alc0171;
#[path = "rules/ALC0172.rs"]
mod alc0172;
#[path = "rules/ALC0173.rs"]
mod alc0173;
#[path = "rules/ALC0174.rs"]
mod alc0174;
#[path = "rules/ALC0175.rs"]
mod alc0175;
#[path = "rules/ALC0176.rs"]
mod alc0176;
#[path = "rules/ALC0177.rs"]
mod alc0177;
#[path = "rules/ALC0178.rs"]
mod alc0178;
#[path = "rules/ALC0179.rs"]
mod alc0179;
#[path = "rules/ALC0180.rs"]
mod alc0180;
#[path = "rules/ALC0181.rs"]
mod alc0181;
#[path = "rules/ALC0182.rs"]
mod alc0182;
#[path = "rules/ALC0183.rs"]
mod alc0183;
#[path = "rules/ALC0190.rs"]
mod alc0190;
#[path = "rules/ALC0191.rs"]
mod alc0191;
#[path = "rules/ALC0192.rs"]
mod alc0192;
#[path = "rules/ALC0193.rs"]
mod alc0193;
#[path = "rules/ALC0194.rs"]
mod alc0194;
#[path = "rules/ALC0195.rs"]
mod alc0195;
#[path = "rules/ALC0196.rs"]
mod alc0196;
#[path = "rules/ALC0197.rs"]
mod alc0197;
#[path = "rules/ALC0198.rs"]
mod alc0198;
#[path = "rules/ALC0199.rs"]
mod alc0199;
#[path = "rules/ALC0200.rs"]
mod alc0200;
#[path = "rules/ALC0201.rs"]
mod alc0201;
#[path = "rules/ALC0202.rs"]
mod alc0202;
#[path = "rules/ALC0203.rs"]
mod alc0203;
#[path = "rules/ALC0204.rs"]
mod alc0204;
#[path = "rules/ALC0205.rs"]
mod alc0205;

fn main() {}
