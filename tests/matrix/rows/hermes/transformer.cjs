// A module as Metro compiles it for React Native.
const babel = require("@babel/core");
const preset = require("@react-native/babel-preset");

exports.transform = ({ filename, src }) =>
  babel.transformSync(src, {
    filename,
    presets: [[preset, { enableBabelRuntime: false }]],
    sourceType: "unambiguous",
    ast: true,
    code: false,
    babelrc: false,
    configFile: false,
  });
