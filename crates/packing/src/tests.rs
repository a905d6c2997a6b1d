//! Modules that were made by hand become text and modules again.

use crate::pack::unpacked;
use crate::{PackError, aligned, pack};

/// A section after the code.
const AFTER: &[u8] = b"\x00\x0e\x04name and \x00\xff\x80z";

/// A module with these functions, each without its length, and a section before and after them.
fn module(functions: &[&[u8]]) -> Vec<u8> {
    let mut code = vec![functions.len() as u8];
    for function in functions {
        code.push(function.len() as u8);
        code.extend_from_slice(function);
    }
    let mut module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0".to_vec();
    module.push(10);
    let [low, high] = [code.len() % 128, code.len() / 128];
    module.extend(if high == 0 { vec![low as u8] } else { vec![low as u8 | 128, high as u8] });
    module.extend(code);
    module.extend(AFTER);
    module
}

/// No locals, these instructions, and the end.
fn function(instructions: &[u8]) -> Vec<u8> {
    [&[0], instructions, &[0x0b]].concat()
}

#[test]
fn each_kind_of_operand_comes_back() {
    let bodies: [&[u8]; 10] = [
        &[],
        &[0x10, 0x07, 0x11, 0x00, 0x00],
        &[0x02, 0x40, 0x03, 0x7f, 0x0c, 0x01, 0x0b, 0x0d, 0x80, 0x01, 0x0b],
        &[0x0e, 0x02, 0x00, 0x01, 0x02],
        &[0x20, 0x00, 0x20, 0x81, 0x01, 0x21, 0x05, 0x22, 0x06, 0x23, 0x00, 0x24, 0x01],
        &[
            0x28, 0x02, 0x08, 0x29, 0x03, 0x10, 0x20, 0x01, 0x2d, 0x00, 0x80, 0x80, 0x40, 0x20, 0x01, 0x28,
            0x02, 0x0c,
        ],
        &[0x36, 0x02, 0x00, 0x37, 0x03, 0xff, 0x7f, 0x3a, 0x00, 0x03],
        &[0x41, 0x7f, 0x41, 0xc0, 0x00, 0x41, 0x80, 0x80, 0xc0, 0x00, 0x41, 0x80, 0x80, 0x80, 0x80, 0x78],
        &[0x42, 0xff, 0xff, 0x01, 0x44, 1, 2, 3, 4, 250, 6, 7, 8],
        &[0xfc, 0x00, 0xfc, 0x0a, 0x00, 0x00, 0xfc, 0x0b, 0x00, 0x6a, 0x45, 0xc0],
    ];
    let functions: Vec<_> = bodies.iter().map(|body| function(body)).collect();
    let with_locals = [&[2, 3, 0x7f, 1, 0x7e], &[0x20, 0x02, 0x1a, 0x0b][..]].concat();
    let all: Vec<&[u8]> = functions.iter().map(Vec::as_slice).chain([with_locals.as_slice()]).collect();
    for functions in all.iter().map(std::slice::from_ref).chain([all.as_slice()]) {
        let module = module(functions);
        assert_eq!(aligned(&module).as_deref(), Ok(module.as_slice()));
        let text = pack(&module).expect("it has a text");
        assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{text:?}");
        assert!(!text.contains(['"', '\\', '`', '$', '<']), "{text:?}");
        assert_eq!(unpacked(&text), Some(module));
    }
}

#[test]
fn alignments_become_natural_and_nothing_else_changes() {
    let before = module(&[&function(&[0x28, 0x00, 0x04, 0x37, 0x01, 0x08])]);
    let after = module(&[&function(&[0x28, 0x02, 0x04, 0x37, 0x03, 0x08])]);
    assert_eq!(aligned(&before), Ok(after));
    assert_eq!(pack(&before), Err(PackError::Differs));
}

#[test]
fn an_instruction_that_the_form_does_not_know_is_refused() {
    assert_eq!(pack(&module(&[&function(&[0xfd, 0x0c])])), Err(PackError::Instruction(0xfd)));
    assert_eq!(pack(&module(&[&function(&[0x06, 0x40])])), Err(PackError::Instruction(0x06)));
    assert_eq!(pack(&module(&[&function(&[0xfc, 0x08, 0x00, 0x00])])), Err(PackError::Prefixed(8)));
    assert_eq!(pack(&module(&[&function(&[0xfc, 0x0a, 0x00, 0x01])])), Err(PackError::Prefixed(10)));
}

#[test]
fn a_module_that_ends_too_early_is_refused() {
    let module = module(&[&function(&[0x41, 0x00, 0x1a])]);
    for end in 8..module.len() - AFTER.len() {
        assert_eq!(pack(&module[..end]), Err(PackError::Cut), "{end}");
    }
}
